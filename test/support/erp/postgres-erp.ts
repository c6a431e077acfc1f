// An ERP as it is found in the wild: a PostgreSQL with a schema, tables, columns and words of its own. It meets the
// product by configuration alone.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Knex } from 'knex';
import { configDeclarations, loadJobs } from '../../../src/app/app.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { FeedSettings } from '../../../src/erp/sources.ts';

const TABLES = `
create schema logistica;
create table logistica.pedidos (
  numero integer primary key, saida timestamp not null, retorno timestamp not null, placa char(8),
  situacao text not null default 'LIBERADO', estado_envio varchar(12), id_roteiro bigint, retorno_envio text
);
create table logistica.paradas (
  pedido integer not null references logistica.pedidos, sequencia smallint not null, cliente text not null,
  tipo char(3) not null, logradouro text, lat numeric(9, 6), lon numeric(9, 6),
  situacao varchar(2), realizada_em timestamptz, motivo text, fotos text[],
  primary key (pedido, sequencia)
);
create table logistica.itens (
  pedido integer not null, sequencia smallint not null, nota bigint not null, volumes numeric(8, 2) not null,
  primary key (pedido, sequencia, nota), foreign key (pedido, sequencia) references logistica.paradas
);`;

const CONFIG = `
timezone: America/Sao_Paulo
erp:
  route_plans:
    source: sql
    client: pg
    connection: \${ERP_DATABASE_URL}
    query: |
      select p.numero, p.saida, p.retorno, p.placa, s.sequencia, s.cliente, s.tipo, s.logradouro, s.lat, s.lon,
             s.pedido || '/' || s.sequencia as parada, i.nota, i.volumes
      from logistica.pedidos p
      join logistica.paradas s on s.pedido = p.numero
      left join logistica.itens i on i.pedido = s.pedido and i.sequencia = s.sequencia
      where p.situacao = 'LIBERADO' and p.estado_envio is null
      order by p.numero, s.sequencia, i.nota;
    acknowledge: |
      update logistica.pedidos
      set estado_envio = :state, id_roteiro = :remote_id, retorno_envio = :message
      where numero = :external_code
    return: |
      update logistica.paradas
      set situacao = :status, realizada_em = :executed_at::timestamptz, motivo = :reason,
          fotos = string_to_array(:pictures, ' ')
      where pedido = :plan_external_code and pedido || '/' || sequencia = :point_external_code
    mapping:
      plan.external_code: numero
      plan.date_time_start: saida
      plan.date_time_end: retorno
      plan.vehicle_plate: placa
      point.external_code: parada
      point.name: cliente
      point.order: sequencia
      point.type: { column: tipo, values: { SAI: Partida, ENT: Entrega } }
      point.address: logradouro
      point.latitude: lat
      point.longitude: lon
      item.external_code: nota
      item.quantity: volumes
      options.optimize: { value: false }
      options.geocoding: { value: false }
`;

export async function makeErp(database: Knex, orders: number): Promise<void> {
  await database.raw(TABLES);
  for (let numero = 1; numero <= orders; numero++) await addOrder(database, numero);
}

export async function addOrder(database: Knex, numero: number, change: object = {}): Promise<void> {
  const times = { saida: '2025-03-13 08:00', retorno: '2025-03-13 18:00' };
  const customer = { pedido: numero, sequencia: 2, cliente: 'Padaria São João', tipo: 'ENT' };
  await database('logistica.pedidos').insert({ numero, ...times, ...change });
  await database('logistica.paradas').insert([
    { pedido: numero, sequencia: 1, cliente: 'Depósito', tipo: 'SAI', lat: -23.5, lon: -46.6 },
    { ...customer, logradouro: 'Rua Um, 1' },
  ]);
  await database('logistica.itens').insert(
    [1, 2].map((nota) => ({ pedido: numero, sequencia: 2, nota: 3_500_000_000 + nota, volumes: 2.5 })),
  );
}

/** The feed of route plans as the configuration file says it. */
export async function feedOf(folder: string, url: string, change = (text: string) => text): Promise<FeedSettings> {
  const file = join(folder, 'roadbook.yaml');
  writeFileSync(file, change(CONFIG));
  const { config } = await loadConfig(file, configDeclarations(await loadJobs()), { ERP_DATABASE_URL: url });
  return config.erp.route_plans as FeedSettings;
}
