// The names of columns beside the canonical paths: a Portuguese label for each field, which a table without a mapping may
// use, and other names that Brazilian ERPs use, which are only suggested.
import { distance } from 'fastest-levenshtein';
import { memoize } from '../../core/memoize.ts';
import { FEED_KINDS, type FeedKind } from '../feed-kinds.ts';
import { FLAT_COLUMNS } from '../items/fields.ts';
import type { ReadyMapping } from './mapping.ts';

/** By canonical path: the label, then other names. Case, accents and punctuation do not matter. */
type Names = Readonly<Record<string, readonly [label: string, ...others: string[]]>>;

const NAMES: Readonly<Record<FeedKind, Names>> = {
  route_plans: {
    'plan.external_code': [
      'Viagem',
      'Código da viagem',
      'Cod viagem',
      'Id viagem',
      'Num viagem',
      'Nr viagem',
      'Romaneio',
      'Carga',
      'Rota',
      'Roteiro',
    ],
    'plan.date_time_start': [
      'Início',
      'Saída',
      'Data início',
      'Data saída',
      'Dt saída',
      'Dt início',
      'Data',
      'Data viagem',
      'Dt início prev',
      'Ini',
      'Data ini',
      'Dt ini',
      'Dt ini prev',
    ],
    'plan.date_time_end': [
      'Fim',
      'Término',
      'Data fim',
      'Dt fim',
      'Data término',
      'Retorno',
      'Dt retorno',
      'Data retorno',
      'Dt fim prev',
    ],
    'plan.vehicle_plate': ['Placa', 'Veículo', 'Placa do veículo', 'Placa veic', 'Placa cavalo', 'Caminhão'],
    'plan.document_number': ['CPF do motorista', 'CPF', 'CPF motorista', 'Doc motorista', 'Documento motorista'],
    'plan.vehicle_plates': ['Placas', 'Veículos'],
    'plan.document_numbers': ['CPFs', 'CPF dos motoristas'],
    'entity.document_number': ['CPF da equipe', 'CPF entregador'],
    'entity.vehicle_plate': ['Placa da equipe'],
    'entity.helper': ['CPF do ajudante', 'CPF ajudante', 'Ajudante'],
    'options.optimize': ['Otimizar', 'Roteirizar'],
    'options.geocoding': ['Geocodificar'],
    'options.source': ['Fonte da rota'],
    'options.has_time_window': ['Usar janelas'],
    'options.is_async': ['Otimizar depois'],
    'point.name': [
      'Parada',
      'Cliente',
      'Nome do cliente',
      'Nome cli',
      'Destinatário',
      'Razão social',
      'Loja',
      'Nome',
      'Ponto',
    ],
    'point.order': ['Ordem', 'Sequência', 'Seq', 'Seq entrega', 'Ordem entrega'],
    'point.info': ['Observação', 'Obs', 'Observações', 'Informações'],
    'point.address': ['Endereço', 'End', 'Ender', 'Logradouro', 'Endereço de entrega', 'Rua'],
    'point.type': ['Tipo', 'Tipo da parada', 'Operação'],
    'point.latitude': ['Latitude', 'Lat'],
    'point.longitude': ['Longitude', 'Lng', 'Lon', 'Long'],
    'point.external_code': [
      'Código da parada',
      'Cod parada',
      'Entrega',
      'Num entrega',
      'Cod cliente',
      'Código do cliente',
      'Pedido',
      'Nr pedido',
    ],
    'point.axles': ['Eixos'],
    'point.delivery_time': ['Tempo de atendimento', 'Tempo de entrega', 'Tempo parada'],
    'point.disable_signature_check': ['Dispensar assinatura'],
    'point.disable_picture': ['Dispensar foto'],
    'point.time_window.start': ['Janela início', 'Janela ini', 'Hora início', 'Hora ini', 'Janela de'],
    'point.time_window.end': ['Janela fim', 'Hora fim', 'Janela até'],
    'item.external_code': [
      'Nota fiscal',
      'NF',
      'Num NF',
      'Nr NF',
      'Item',
      'Cod item',
      'Código do item',
      'Produto',
      'SKU',
    ],
    'item.value': ['Valor', 'Vlr', 'Valor NF', 'Preço'],
    'item.description': ['Descrição', 'Desc', 'Descrição do item', 'Mercadoria'],
    'item.quantity': ['Quantidade', 'Qtd', 'Qtde', 'Quant', 'Volumes'],
    'item.capacity': ['Capacidade', 'Peso', 'Cubagem'],
  },
  points_of_interest: {
    external_code: ['Código', 'Cod', 'Cod cliente'],
    title: ['Título', 'Nome', 'Cliente', 'Razão social'],
    latitude: ['Latitude', 'Lat'],
    longitude: ['Longitude', 'Lng', 'Lon', 'Long'],
    phone: ['Telefone', 'Fone', 'Celular'],
    responsible_name: ['Responsável', 'Contato'],
    point_of_interest_category_id: ['Categoria'],
    'point_of_interest_category.id': ['Id da categoria'],
  },
  agents: {
    external_code: ['Código', 'Cod'],
    name: ['Nome', 'Motorista', 'Funcionário'],
    cpf: ['CPF', 'Documento', 'Doc'],
    company_registry: ['Matrícula', 'Chapa', 'Registro'],
    rg: ['RG', 'Identidade'],
    email: ['E-mail', 'Correio'],
    phone_number: ['Telefone', 'Fone', 'Celular'],
    is_deliveryman: ['É entregador', 'Entregador'],
  },
  itineraries: {
    external_id: ['Código', 'Itinerário', 'Viagem', 'Cod'],
    description: ['Descrição', 'Desc'],
    vehicle_id: ['Id do veículo', 'Veículo'],
    driver_id: ['Id do motorista', 'Motorista'],
    date_time_start_estimated: ['Início previsto', 'Início', 'Saída', 'Data saída'],
    date_time_end_estimated: ['Fim previsto', 'Fim', 'Término', 'Chegada'],
    start_local: ['Local de início', 'Origem'],
    end_local: ['Local de fim', 'Destino'],
  },
};

/** Lower case without accents and punctuation. */
export const plainName = (name: string): string =>
  name
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

export const labelOf = (kind: FeedKind, path: string): string => NAMES[kind][path]?.[0] ?? path;

const byLabel = (kind: FeedKind): Map<string, string> =>
  new Map(Object.entries(NAMES[kind]).map(([path, [label]]) => [plainName(label), path]));

/** The path of each column whose name is a label. */
export function labelledPaths(kind: FeedKind): (column: string) => string | undefined {
  const labels = byLabel(kind);
  return (column) => labels.get(plainName(column));
}

/** Longer names are not compared. */
const LONGEST_NAME = 64;

/** Each record of a wrong file may have other unknown names. */
const knownNames = memoize(FEED_KINDS.length, (kind: FeedKind) =>
  Object.keys(FLAT_COLUMNS[kind].types).flatMap((path) =>
    [path, path.slice(path.lastIndexOf('.') + 1), ...(NAMES[kind][path] ?? [])].map((name) => ({
      path,
      name: plainName(name),
    })),
  ),
);

/** The path that a column probably means; undefined if none is near. */
export function suggestedPath(kind: FeedKind, column: string): string | undefined {
  const typed = plainName(column);
  if (typed === '' || typed.length > LONGEST_NAME) return undefined;
  const known = knownNames(kind);
  const same = known.find(({ name }) => name === typed);
  if (same !== undefined) return same.path;
  const most = Math.floor(typed.length / 5);
  if (most === 0) return undefined;
  const near = known
    .filter(({ name }) => Math.abs(name.length - typed.length) <= most)
    .map(({ path, name }) => ({ path, steps: distance(typed, name) }))
    .filter(({ steps }) => steps <= most);
  return near.sort((a, b) => a.steps - b.steps)[0]?.path;
}

/** Whether a cell may be the name of a column; the header is the row with the most of them. */
export function columnNameTest(kind: FeedKind, { renames }: ReadyMapping): (cell: string) => boolean {
  const names = new Set(
    [
      ...Object.keys(FLAT_COLUMNS[kind].types).flatMap((path) => [path, `data.${path}`]),
      ...Object.values(NAMES[kind]).flat(),
      ...renames.flatMap(({ columns }) => columns),
    ].map(plainName),
  );
  return (cell) => cell.length <= LONGEST_NAME && names.has(plainName(cell));
}
