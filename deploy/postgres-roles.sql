-- The roles of a Roadbook warehouse, each with the least it needs. Run it as an administrator in the warehouse's database
-- before the first start, once. Running it again changes nothing. The daemon itself lets BI read new tables. Passwords are not set here: \password roadbook, \password roadbook_bi.
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

-- At each start the daemon lets roadbook_bi read the views, the service's records, the code lists, and of its own tables those
-- of days, runs, coverage and history. The others stay closed: its session, and contents that wait to be sent or did not fit,
-- which may hold personal data.

-- A BI query never holds anything for longer than this.
alter role roadbook_bi set default_transaction_read_only = on;
alter role roadbook_bi set statement_timeout = '5min';
alter role roadbook_bi set idle_in_transaction_session_timeout = '10min';
alter role roadbook_bi set search_path = fleet;
-- For an SSD. With the default, which stands for rotating ones, the cookbook reads all route plans for a month of stops.
alter role roadbook_bi set random_page_cost = 1.1;
