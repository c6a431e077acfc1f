// The words of a result table in both languages. Reasons are written in English; the ones that Roadbook itself gives, and
// those of the service that are known, are translated here. Other texts of the service stay as they are.

export const LANGUAGES = ['pt', 'en'] as const;
export type Language = (typeof LANGUAGES)[number];

export const RESULT_HEADS: Readonly<Record<Language, string[]>> = {
  en: ['row', 'code', 'state', 'reason', 'column', 'value'],
  pt: ['linha', 'código', 'situação', 'motivo', 'coluna', 'valor'],
};

export const STATE_WORDS = {
  en: { confirmed: 'confirmed', partial: 'partial', rejected: 'rejected', cancelled: 'cancelled', unknown: 'unknown' },
  pt: {
    confirmed: 'confirmado',
    partial: 'aceito em parte',
    rejected: 'rejeitado',
    cancelled: 'cancelado',
    unknown: 'desconhecido',
  },
} as const;

/**
 * Phrases of the reasons, longer ones first where one contains another. A part before other words is bounded, because a text
 * of repeated phrases would take quadratic time.
 */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [
    /is not an ISO 8601 date-time of the years (\d+) to (\d+), such as (\S+) or (\S+)/,
    'não é uma data e hora entre $1 e $2, como 18/11/2026 08:00 ou $3',
  ],
  [
    /is a time that the clocks of the time zone skip on that day; add its offset, as in (\S+)/,
    'é uma hora que o relógio pula nesse dia (horário de verão); acrescente o fuso, como em $1',
  ],
  [
    /may be day\/month or month\/day; set (`[^`]{0,40}`) or (`[^`]{0,40}`) of the feed/,
    'pode ser dia/mês ou mês/dia; configure $1 ou $2',
  ],
  [
    /may be a fraction or thousands; set (`[^`]{0,40}`) or (`[^`]{0,40}`) of the feed/,
    'pode ser fração ou milhar; configure $1 ou $2',
  ],
  [/has a year of two digits; set (`[^`]{0,40}`) of the feed/, 'tem o ano com dois dígitos; configure $1'],
  [/is not day\/month\/year; set (`[^`]{0,40}`) of the feed/, 'não é dia/mês/ano; configure $1'],
  [
    /has no time of day; add it, or join its column: (.{0,99}) in the mapping/,
    'não tem hora; acrescente a hora, ou junte a coluna dela: $1',
  ],
  [/does not have the form (\S+); correct .*/, 'não tem o formato $1'],
  [/is not a number; write it as (.*)/, 'não é um número; escreva como $1'],
  [/is not a whole number of seconds( from 0)?/, 'não é um número inteiro de segundos'],
  [/is not a whole number from 0/, 'não é um número inteiro a partir de 0'],
  [/is not a whole number/, 'não é um número inteiro'],
  [/is not a number/, 'não é um número'],
  [/is neither true nor false(; write true or false)?/, 'não é sim nem não'],
  [/is not a list of plates of the form (.*)/, 'não é uma lista de placas como $1'],
  [/is not a plate of the form (.*)/, 'não é uma placa como $1'],
  [/is not a (?:list of )?tax numbers? with valid check digits/, 'não é um CPF válido'],
  [/is not one of (.*)/, 'não é um destes: $1'],
  [/is not a text/, 'não é um texto'],
  [/is not a known field/, 'não é um campo conhecido'],
  [/is not a list/, 'não é uma lista'],
  [/is not an object.*/, 'não é um registro'],
  [/is not a single value/, 'não é um valor único'],
  [/outside (-\d+)\.\.(\d+)/, 'fora de $1 a $2'],
  [/is outside the period of the plan/, 'está fora do período da viagem'],
  [/is before (\w+)/, 'é anterior a $1'],
  [/at least one is required/, 'é preciso pelo menos um'],
  [/is required/, 'é obrigatório'],
  [/is missing/, 'está faltando'],
  [/is empty/, 'está vazio'],
  [/is already used by (\S+)/, 'já foi usado em $1'],
  [/give both coordinates or none/, 'informe as duas coordenadas ou nenhuma'],
  [/give an address or coordinates/, 'informe um endereço ou as coordenadas'],
  [/give only one of (\w+) and (\w+)/, 'informe só um: $1 ou $2'],
  [/differs from (?:the plan's |the point's |the )rows above/, 'é diferente das linhas acima'],
  [
    /this external code was already read at (.{0,299}?); .*/,
    'este código já foi lido em $1; deixe juntas as linhas da viagem e use cada código uma vez',
  ],
  [/unknown column ("[^"]*")/, 'coluna desconhecida $1'],
  [/has more than (\d+) columns; .*/, 'tem mais de $1 colunas; tire as que não são necessárias'],
  [/the mapped column/, 'a coluna mapeada'],
  [/the column/, 'a coluna'],
  [/occurs twice in the header; keep one/, 'aparece duas vezes no cabeçalho; deixe uma'],
  [/\(did you mean ("[^"]*")\?\)/, '(seria $1?)'],
  [/; rename it, remove it or map it/, '; renomeie, remova ou mapeie'],
  [
    /has none of the mapped columns \((.{0,299})\); its names are (.*)/,
    'não tem nenhuma das colunas mapeadas ($1); as dele são $2',
  ],
  [/not UTF-8 at byte (\d+); .*/, 'não é UTF-8 no byte $1; salve como CSV UTF-8'],
  [
    /a quotation mark is open or misplaced near line (\d+).*/,
    'aspas abertas ou fora do lugar perto da linha $1; nada do arquivo foi lido',
  ],
  [
    /row (\d+) has more cells than the header.*/,
    'a linha $1 tem mais células que o cabeçalho; nada do arquivo foi lido',
  ],
  [
    /is not a readable XLSX workbook \((.{0,299})\).*/,
    'não é uma planilha XLSX legível ($1); salve de novo como .xlsx',
  ],
  [/sent as read at (.*)/, 'enviado como lido em $1'],
  [/point rejected: /, 'parada rejeitada: '],
  [/^The service gave no reason$/, 'O serviço não informou o motivo'],
  [/(?<=^|; |: )No vehicle has this plate/, 'Nenhum veículo tem esta placa'],
  [/(?<=^|; |: )No driver has this document number/, 'Nenhum motorista tem este documento'],
  [/(?<=^|; |: )No point of the plan can be used/, 'Nenhuma parada da viagem pode ser usada'],
  [/point not assigned: /, 'parada não atribuída: '],
  [
    /^Cancelled by a person; it may still be at the service as id (\d+)$/,
    'Cancelado por uma pessoa; ainda pode estar no serviço com o id $1',
  ],
  [/^Cancelled by a person$/, 'Cancelado por uma pessoa'],
];

export function reasonIn(language: Language, reason: string): string {
  if (language === 'en') return reason;
  return PHRASES.reduce((text, [english, portuguese]) => text.replace(english, portuguese), reason);
}
