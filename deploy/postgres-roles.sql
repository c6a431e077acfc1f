-- The roles of a Roadbook warehouse, each with the least it needs. Run it as an administrator in the warehouse's
-- database:
--   before the first start, so that the daemon finds its schema;
--   again after the first start and after every upgrade, so that BI may read the tables that are new.
-- Running it again changes nothing else. Passwords are not set here: \password roadbook, \password roadbook_bi.
-- Other names: replace roadbook, roadbook_bi and fleet throughout.

do $$
begin
  if not exists (select from pg_roles where rolname = 'roadbook') then
    create role roadbook login;
  end if;
  if not exists (select from pg_roles where rolname = 'roadbook_bi') then
    create role roadbook_bi login;
  end if;
  -- An administrator who is no superuser, as on managed services, has to be a member of the owner to act for it.
  if not pg_has_role(current_user, 'roadbook', 'member') then
    execute format('grant roadbook to %I', current_user);
  end if;
  execute format('grant connect, temporary on database %I to roadbook', current_database());
  execute format('grant connect on database %I to roadbook_bi', current_database());
end
$$;

-- The daemon owns its two schemas and nothing else. It needs no right to create schemas, databases or roles.
create schema if not exists fleet authorization roadbook;
revoke all on schema fleet from public;
-- For the queue of several daemons (scale.dispatcher: pg-boss); empty where it is not used.
create schema if not exists fleet_queue authorization roadbook;
revoke all on schema fleet_queue from public;
grant usage on schema fleet to roadbook_bi;

-- BI reads what the service knows, the code lists and the views, and may change nothing. What belongs to the daemon
-- itself stays closed: its session, and contents that wait to be sent or did not fit, which may hold personal data.
-- A table that this list does not know yet stays closed until the script is run again.
do $$
declare
  item record;
begin
  for item in
    select relname from pg_class
    where relnamespace = 'fleet'::regnamespace and relkind in ('r', 'p', 'v', 'm') and not relispartition
  loop
    if item.relname in ('sync_state', 'sync_quarantine', 'sync_lease', 'sync_daemon', 'sync_rate', 'sync_audit', 'push_outbox', 'push_attempt', 'push_return') then
      execute format('revoke all on fleet.%I from roadbook_bi', item.relname);
    else
      execute format('grant select on fleet.%I to roadbook_bi', item.relname);
    end if;
  end loop;
end
$$;

-- A BI query never holds anything for longer than this.
alter role roadbook_bi set default_transaction_read_only = on;
alter role roadbook_bi set idle_in_transaction_session_timeout = '10min';
alter role roadbook_bi set search_path = fleet;
