// @ts-check
// Sentences of the daemon in Brazilian Portuguese. A name in braces stands for a part that differs: a number if the name is
// one letter, `{said}` for another sentence, `{state}` for a state. Of two that fit, the first counts.
import { pt } from './pt.js';

/** @type {Record<string, string>} */
export const ptSentences = {
  'failed: {said}': 'falhou: {said}',
  begun: 'iniciada',
  'The run starts within seconds.': 'A execução começa em segundos.',
  'The job is paused; an active run continues.': 'A tarefa está pausada; uma execução em andamento continua.',
  'The job is resumed; missed ticks are caught up with one run.':
    'A tarefa foi retomada; horários perdidos são recuperados com uma execução.',
  'It is ready; the next run sends it, unless a read-back shows it.':
    'Está pronto; a próxima execução o envia, a menos que uma consulta o mostre.',
  'It is ready; the next run reads it back without waiting, and sends it unless the service shows it.':
    'Está pronto; a próxima execução o consulta sem esperar e o envia, a menos que o serviço o mostre.',
  'It may be at the service: the next runs read it back, and send it only if it stays absent for long enough.':
    'Pode estar no serviço: as próximas execuções o consultam e só o enviam se continuar ausente por tempo suficiente.',
  'The next run reads it back; it stays reported as long as the problem remains.':
    'A próxima execução o consulta; ele continua indicado enquanto o problema durar.',
  'It is ready; the next run sends it, unless a read-back still shows it.':
    'Está pronto; a próxima execução o envia, a menos que uma consulta ainda o mostre.',
  'It is cancelled; the next run notifies the ERP.': 'Está cancelado; a próxima execução avisa o ERP.',
  'It is cancelled. Its code in the ERP is no longer stored, so the ERP is not notified: correct it there too.':
    'Está cancelado. Seu código no ERP não está mais guardado, e o ERP não é avisado: corrija lá também.',
  'The record is valid now and was loaded.': 'O registro agora é válido e foi carregado.',
  'Cancelled by a person': 'Cancelado por uma pessoa',
  'Cancelled by a person; it may still be at the service as id {id}':
    'Cancelado por uma pessoa; ainda pode estar no serviço com o id {id}',
  'npx roadbook outbox list --state rejected shows them; a dropped file has its result in failed/.':
    'npx roadbook outbox list --state rejected os mostra; um arquivo tem o resultado dele em failed/.',
  'Retried by a person; the next run sends it': 'Repetido por uma pessoa; a próxima execução o envia',
  'A person asserts that it is not at the service': 'Uma pessoa afirma que não está no serviço',
  'It is invalid and was not sent': 'É inválido e não foi enviado',
  'It could not be read and was not sent': 'Não pôde ser lido e não foi enviado',
  'The service may have an earlier content; the content that the ERP offers now cannot be sent':
    'O serviço pode ter um conteúdo anterior; o que o ERP oferece agora não pode ser enviado',
  'An earlier send may have arrived: it is read back before the changed content is sent':
    'Um envio anterior pode ter chegado: ele é consultado antes de enviar o conteúdo alterado',
  'The service has it, but must show its identifier before it can be changed':
    'O serviço o tem, mas precisa mostrar o identificador antes que ele possa ser alterado',
  'The ERP reused the code for another day; it was not sent': 'O ERP reutilizou o código em outro dia; não foi enviado',
  'The ERP changed it after it was pushed; the service cannot change it':
    'O ERP o alterou depois do envio; o serviço não permite alterá-lo',
  'The service already had it; it was not sent, and its stops were not compared':
    'O serviço já o tinha; não foi enviado, e as paradas não foram comparadas',
  'The service has it, although it answered with a rejection':
    'O serviço o tem, embora tenha respondido com uma rejeição',
  'Found at the service': 'Encontrado no serviço',
  'Rejected by the service': 'Rejeitado pelo serviço',
  'Not shown by the service yet; it is read back again before it counts as absent':
    'O serviço ainda não o mostra; é consultado de novo antes de ser considerado ausente',
  'Retried by a person; waits until the ERP offers it again':
    'Repetido por uma pessoa; espera até que o ERP o ofereça de novo',
  'Its content is no longer stored: let the ERP offer it again (drop its file again, or offer its row again). The content may be the same.':
    'O conteúdo não está mais guardado: faça o ERP oferecê-lo de novo (coloque o arquivo de novo, ou ofereça a linha de novo). O conteúdo pode ser o mesmo.',
  '{n} retried, {m} skipped because they changed or their state does not allow it.':
    'Repetidos: {n}. Ignorados porque mudaram ou seu estado não permite: {m}.',
  '{n} marked as not at the service, {m} skipped because they changed or their state does not allow it.':
    'Marcados como ausentes do serviço: {n}. Ignorados porque mudaram ou seu estado não permite: {m}.',
  '{n} cancelled, {m} skipped because they changed or their state does not allow it.':
    'Cancelados: {n}. Ignorados porque mudaram ou seu estado não permite: {m}.',
  'The record is still invalid: {reason}': 'O registro continua inválido: {reason}',
  '{code} is confirmed: there is nothing to retry': '{code} está confirmado: não há o que repetir',
  'To send it again, change its content in the ERP.': 'Para enviá-lo de novo, altere o conteúdo no ERP.',
  '{code}: the ERP changed it, and the new content cannot be sent':
    '{code}: o ERP o alterou, e o novo conteúdo não pode ser enviado',
  'Correct it in the ERP.': 'Corrija-o no ERP.',
  '{code} is {state}: there is nothing to assert': '{code} está {state}: não há o que afirmar',
  '--not-there is for an entry that may be at the service; without it, retry does what the state allows.':
    'Isto é para um item que pode estar no serviço; tentar de novo faz o que o estado permite.',
  '{code} is {state}: it cannot be cancelled': '{code} está {state}: não pode ser cancelado',
  'It is already final.': 'O estado já é final.',
  '{code} is at the service': '{code} está no serviço',
  'No call of the service removes it: remove it there by hand, then use --force.':
    'Nenhuma chamada do serviço o remove: remova-o lá manualmente e depois use --force.',
  '{code} may be at the service; no read-back has shown it yet':
    '{code} pode estar no serviço; nenhuma consulta o mostrou ainda',
  'Wait for the read-back, or check the service yourself and use --force.':
    'Espere a consulta, ou confira o serviço e use --force.',
  '{code} was changed at the same time by a run or by another person':
    '{code} foi alterado ao mesmo tempo por uma execução ou por outra pessoa',
  'Check it with npx roadbook outbox show, then repeat the action.': 'Confira-o e repita a ação.',
  '{code} is being sent': '{code} está sendo enviado',
  'Try again in a minute; if the sending process has died, the next run reads it back.':
    'Tente de novo em um minuto; se o processo que envia morreu, a próxima execução o consulta.',
  '{said}; check the service; if it is not there: npx roadbook outbox retry CODE --not-there':
    '{said}; confira o serviço; se não estiver lá: npx roadbook outbox retry CODE --not-there',
  'The service accepted it, but no listing shows it': 'O serviço o aceitou, mas nenhuma listagem o mostra',
  'Sent {n} times without a clear answer, and not shown': 'Enviado {n} vezes sem resposta clara, e não aparece',
  'The listing is empty, so it proves nothing': 'A listagem está vazia, por isso não prova nada',
  'The listing omits records that earlier listings showed, so it proves nothing':
    'A listagem omite registros que listagens anteriores mostraram, por isso não prova nada',
  'The listing may be truncated at a round number of records, so it proves nothing':
    'A listagem pode estar cortada em um número redondo de registros, por isso não prova nada',
  'The service lists a {noun} of this code whose period cannot be read':
    'O serviço lista um registro com este código cujo período não pode ser lido',
  'Accepted in part; {n} rejected': 'Aceito em parte (partes rejeitadas: {n})',
  'Accepted in part; {n} rejected; {reasons}': 'Aceito em parte (partes rejeitadas: {n}); {reasons}',
  'Stopped before it was sent': 'Parado antes de ser enviado',
  'The process that sent it ended before the answer was stored':
    'O processo que o enviou terminou antes de gravar a resposta',
  'The answer does not say whether the item was stored': 'A resposta não diz se o item foi gravado',
  'The answer does not say whether the plan was accepted': 'A resposta não diz se o plano foi aceito',
  'The service could not optimise the plan': 'O serviço não conseguiu otimizar o plano',
  'The service does not have it; it will be sent again': 'O serviço não o tem; será enviado de novo',
  'The ERP changed it in an invalid way after it was pushed': 'O ERP o alterou de forma inválida depois do envio',
  'The ERP changed it in an invalid way after it was pushed: {reasons}':
    'O ERP o alterou de forma inválida depois do envio: {reasons}',
  'The ERP changed it in an invalid way after it was pushed; the first of its errors: {reasons}':
    'O ERP o alterou de forma inválida depois do envio; o primeiro dos erros: {reasons}',
  'The service does not have it, and the content that the ERP offers now cannot be sent':
    'O serviço não o tem, e o conteúdo que o ERP oferece agora não pode ser enviado',
  'Found at the service with different content': 'Encontrado no serviço com outro conteúdo',
  'Found at the service; parts may be missing, see the reasons':
    'Encontrado no serviço; podem faltar partes, veja os motivos',
  'The service does not show its points; compare them there': 'O serviço não mostra as paradas da viagem; compare lá',
  'The service already had it; it was not sent': 'O serviço já o tinha; não foi enviado',
  'The service already had it with different content; it was not sent':
    'O serviço já o tinha com outro conteúdo; não foi enviado',
  'The service has it {n} times: {ids}; remove all but one there':
    'O serviço o tem {n} vezes: {ids}; remova lá todos menos um',
  '{code} is the same {noun} and is sent first': '{code} é o mesmo registro e é enviado primeiro',
  'The service has it under the code {code}': 'O serviço o tem com o código {code}',
};

const plain = (/** @type {string} */ text) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
/** Bounded, so that a long text takes no longer than its length. */
const part = (/** @type {string} */ name) => `(?<${name}>${name.length === 1 ? '\\d{1,16}' : '.{1,500}'})`;
const PATTERNS = Object.entries(ptSentences).map(([sentence, translation]) => {
  const parts = sentence.split(/\{(\w+)\}/).map((text, index) => (index % 2 === 0 ? plain(text) : part(text)));
  return { pattern: new RegExp(`^${parts.join('')}$`, 's'), translation };
});

/** @type {Record<string, (text: string) => string | undefined>} */
const TRANSLATED = {
  said: inPortuguese,
  state: (name) => /** @type {Record<string, any>} */ (pt)[`entry.${name}`],
};

/**
 * The sentence in Portuguese; undefined if it, or a sentence in it, has no translation.
 * @param {string} sentence
 * @returns {string | undefined}
 */
export function inPortuguese(sentence) {
  const fitting = PATTERNS.find(({ pattern }) => pattern.test(sentence));
  if (fitting === undefined) return undefined;
  const { groups = {} } = /** @type {RegExpExecArray} */ (fitting.pattern.exec(sentence));
  const values = Object.entries(groups).map(([name, text]) => [name, (TRANSLATED[name] ?? String)(text)]);
  if (values.some(([, text]) => text === undefined)) return undefined;
  const known = Object.fromEntries(values);
  return fitting.translation.replaceAll(/\{(\w+)\}/g, (_, name) => known[name]);
}
