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
    partial: 'parcial',
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
    /is an error of the spreadsheet; correct the formula or the width of the column/,
    'é um erro da planilha; corrija a fórmula ou a largura da coluna',
  ],
  [
    /is a formula that was saved without its result; open the file in a spreadsheet program and save it/,
    'é uma fórmula que foi salva sem o resultado; abra o arquivo num programa de planilhas e salve',
  ],
  [
    /has lost digits in the spreadsheet; format the column as text and write the number again/,
    'perdeu dígitos na planilha; formate a coluna como texto e escreva o número de novo',
  ],
  [
    /is a number, not a date; format the column as a date with its time/,
    'é um número, não uma data; formate a coluna como data com hora',
  ],
  [
    /has none of the mapped columns \((.{0,299})\); its names are (.*)/,
    'não tem nenhuma das colunas mapeadas ($1); as dele são $2',
  ],
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
  [/is not a number; write it as (\S+) or (\S+)/, 'não é um número; escreva como $1 ou $2'],
  [/is not a whole number of seconds( from 0)?/, 'não é um número inteiro de segundos'],
  [/is not a whole number from 0/, 'não é um número inteiro a partir de 0'],
  [/is not a whole number/, 'não é um número inteiro'],
  [/is not a number/, 'não é um número'],
  [/is neither true nor false(; write true or false)?/, 'não é sim nem não'],
  [/is not a list of plates of the form (\S+) or (\S+)/, 'não é uma lista de placas como $1 ou $2'],
  [/is not a plate of the form (\S+) or (\S+)/, 'não é uma placa como $1 ou $2'],
  [/is not a (?:list of )?tax numbers? with valid check digits/, 'não é um CPF válido'],
  [/is not one of (.*)/, 'não é um destes: $1'],
  [
    /is given twice, inside and beside `data`, with different values/,
    'foi informado duas vezes, dentro e ao lado de `data`, com valores diferentes',
  ],
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
  [/(?<=^\w{1,40}(?: or \w{1,40})?) or (?=[\w ]{1,80}: )/g, ' ou '],
  [
    /the file is empty; its first row must name the columns/,
    'o arquivo está vazio; a primeira linha deve ter os nomes das colunas',
  ],
  [
    /the (?:first )?sheet(.{0,99}) is empty; its first row must name the columns/,
    'a planilha$1 está vazia; a primeira linha deve ter os nomes das colunas',
  ],
  [
    /row (\d+) of the file is empty; correct (`header_row`) of the feed/,
    'a linha $1 do arquivo está vazia; corrija $2',
  ],
  [
    /row (\d+) of the (?:first )?sheet(.{0,99}) is empty; correct (`header_row`) of the feed/,
    'a linha $1 da planilha$2 está vazia; corrija $3',
  ],
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
  [/more issues are not listed/, 'há mais erros, que não estão listados'],
  [/(\d{1,9}) more errors are not listed/, 'mais $1 erros não estão listados'],
  [
    /has content, but no value in a column that is read \((.{0,299})\); correct the mapping/,
    'tem conteúdo, mas nenhum valor em coluna que é lida ($1); corrija o mapeamento',
  ],
  [
    /has content, but no row has a value in a column that is read; correct the mapping/,
    'tem conteúdo, mas nenhuma linha tem valor em coluna que é lida; corrija o mapeamento',
  ],
  [
    /a column has no name in the header; name it or remove it/,
    'uma coluna não tem nome no cabeçalho; dê um nome ou remova',
  ],
  [/the columns (.{0,299}) all mean (\S+); keep one/, 'as colunas $1 significam todas $2; deixe uma'],
  [/has more than (\d+) columns; .*/, 'tem mais de $1 colunas; tire as que não são necessárias'],
  [/the mapped column/, 'a coluna mapeada'],
  [/the column/, 'a coluna'],
  [/occurs twice in the header; keep one or rename one/, 'aparece duas vezes no cabeçalho; deixe uma ou renomeie uma'],
  [/\(did you mean ("[^"]*")\?\)/, '(seria $1?)'],
  [/; rename it, remove it or map it/, '; renomeie, remova ou mapeie'],
  [
    /not UTF-8 at byte (\d+): may be (.{0,99}) or (.{0,99}); save as UTF-8, or set (`encoding`) of the feed/,
    'não é UTF-8 no byte $1: pode ser $2 ou $3; salve como UTF-8 ou configure $4',
  ],
  [
    /not UTF-8 at byte (\d+); save as UTF-8, or set (`encoding`) of the feed/,
    'não é UTF-8 no byte $1; salve como UTF-8 ou configure $2',
  ],
  [/not valid UTF-16; save as UTF-8/, 'não é UTF-16 válido; salve como UTF-8'],
  [
    /contains NUL bytes: not UTF-8, or UTF-16 without a byte order mark; save as UTF-8, or set (`[^`]{0,40}`) of the feed/,
    'contém bytes NUL: não é UTF-8, ou é UTF-16 sem a marca inicial; salve como UTF-8 ou configure $1',
  ],
  [/JSON that is nested too deeply/, 'JSON com níveis demais'],
  [/no list at/, 'nenhuma lista em'],
  [/no list/, 'nenhuma lista'],
  [/broken JSON at (\d+):(\d+)/, 'JSON com erro na linha $1, coluna $2'],
  [/a quotation mark is open or misplaced/, 'aspas abertas ou fora do lugar'],
  [/the lines cannot be read as CSV/, 'as linhas não podem ser lidas como CSV'],
  [/ near line (\d+)/, ' perto da linha $1'],
  [/row (\d+) has cells outside the header/, 'a linha $1 tem células fora do cabeçalho'],
  [
    /row (\d+) has more cells than the header.*/,
    'a linha $1 tem mais células que o cabeçalho; nada do arquivo foi lido',
  ],
  [
    /is not a readable XLSX workbook \((.{0,299})\).*/,
    'não é uma planilha XLSX legível ($1); salve de novo como .xlsx',
  ],
  [
    /has no (?:first )?sheet([^,]{0,99}), only (.{0,299}); correct (`sheet`) of the feed/,
    'não tem a planilha$1, só $2; corrija $3',
  ],
  [
    /has a format that is not read; save it as \.xlsx or \.csv/,
    'está num formato que não é lido; salve como .xlsx ou .csv',
  ],
  [
    /has a name that is not UTF-8; rename it without accents/,
    'tem um nome que não está em UTF-8; dê um nome sem acentos',
  ],
  [/has a name of more than (\d+) bytes; shorten it/, 'tem um nome de mais de $1 bytes; dê um nome mais curto'],
  [/file larger than (\d+) MB/, 'arquivo maior que $1 MB'],
  [/unpacks to more than (\d+) MB/, 'passa de $1 MB ao ser descompactado'],
  [/takes longer than (\S+) s to read/, 'leva mais de $1 s para ser lido'],
  [/needs more than (\d+) MB of memory to read/, 'precisa de mais de $1 MB de memória para ser lido'],
  [/; split it, or write it as CSV/, '; divida o arquivo ou grave como CSV'],
  [
    /has more than (\S+) items, or codes of more than (\d+) MB; split it/,
    'tem mais de $1 itens, ou códigos com mais de $2 MB; divida o arquivo',
  ],
  [/is larger than (\d+) MB; split it/, 'passa de $1 MB; divida'],
  [
    /has more than (\S+) points, or more than (\S+) points, items and drivers; split the plan/,
    'tem mais de $1 paradas, ou mais de $2 paradas, itens e motoristas; divida a viagem',
  ],
  [/; no item of (?:the file|it) was read/, '; nada do arquivo foi lido'],
  [
    /no permission to read the file \((\w+)\); check its permissions/,
    'sem permissão para ler o arquivo ($1); confira as permissões',
  ],
  [
    /contains a NUL or half a character, which databases cannot store/,
    'contém NUL ou meio caractere, que bancos de dados não guardam',
  ],
  [/is longer than (\d+) characters/, 'passa de $1 caracteres'],
  [
    /has more digits than can be read exactly; select it as text/,
    'tem mais dígitos do que se pode ler com exatidão; formate como texto',
  ],
  [/^could not be read$/, 'não pôde ser lido'],
  [/sent as read at (.*)/, 'enviado como lido em $1'],
  [/point rejected: /, 'parada rejeitada: '],
  [/^The service gave no reason$/, 'O serviço não informou o motivo'],
  [/(?<=^|; |: )No vehicle has this plate/, 'Nenhum veículo tem esta placa'],
  [/(?<=^|; |: )No driver has this document number/, 'Nenhum motorista tem este documento'],
  [/(?<=^|; |: )No point of the plan can be used/, 'Nenhuma parada da viagem pode ser usada'],
  [/point not assigned: /, 'parada não atribuída: '],
  [/point not at the service: /, 'parada fora do serviço: '],
  [
    /^The service does not show its points; compare them there$/,
    'O serviço não mostra as paradas da viagem; compare lá',
  ],
  [
    /^Cancelled by a person; it may still be at the service as id (\d+)$/,
    'Cancelado por uma pessoa; ainda pode estar no serviço com o id $1',
  ],
  [
    /^The ERP changed it in an invalid way after it was pushed(?=: )/,
    'O ERP o alterou de forma inválida depois do envio',
  ],
  [
    /^The ERP changed it in an invalid way after it was pushed; the first of its errors(?=: )/,
    'O ERP o alterou de forma inválida depois do envio; o primeiro dos erros',
  ],
  [
    /^The ERP changed it after it was pushed; the service cannot change it$/,
    'O ERP o alterou depois do envio; o serviço não permite alterá-lo',
  ],
  [/^Cancelled by a person$/, 'Cancelado por uma pessoa'],
];

/** Shows that a phrase was not translated. No Portuguese words. */
const ENGLISH = /\b(?:the|is|are|was|has|have|not|of|and|or|its|than|with|but|cannot|must)\b/;
/** Values, and the words of the service after its prefix. */
const QUOTED = /"[^"]*"|`[^`]*`|\([^()]*\)|parada (?:rejeitada|não atribuída|fora do serviço): .*/g;

/** A reason that is not known to its end stays English: half a sentence in each language helps nobody. */
export function reasonIn(language: Language, reason: string): string {
  if (language === 'en') return reason;
  const translated = PHRASES.reduce((text, [english, portuguese]) => text.replace(english, portuguese), reason);
  return ENGLISH.test(translated.replace(QUOTED, '')) ? reason : translated;
}
