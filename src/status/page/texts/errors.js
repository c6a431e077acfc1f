// @ts-check
// What the error code of a run means and what to do, in Brazilian Portuguese. The English sentences come from the server,
// with the names and numbers of the case.
const PASSING = 'A próxima execução tenta de novo.';
const DOWN = `O serviço está sobrecarregado ou fora do ar. ${PASSING}`;
const FIELDS = 'Compare os campos com os cadastros da conta no serviço.';
const PROXY = 'Talvez um proxy responda no lugar do serviço: confira service.base_url.';
const STATEMENT = 'Confira o comando SQL da fonte: npx roadbook erp check mostra o que ele lê.';
const WAREHOUSE_URL = 'Confira warehouse.url, o servidor e a rede.';

/** Of a run whose error code says why entries need a person. */
export const ptNeedPerson = 'Há itens que precisam de uma pessoa';

/** @type {Record<string, readonly [what: string, todo: string]>} */
export const ptErrors = {
  aborted: ['A chamada ao serviço foi interrompida antes da resposta.', PASSING],
  alert_failed: ['O endereço dos alertas não responde.', 'Confira alerts.webhook.'],
  alert_rejected: ['O endereço dos alertas rejeitou a mensagem.', 'Confira alerts.webhook.'],
  answer_unclear: [
    'O serviço não deu uma resposta clara a um envio.',
    'O envio pode ter chegado: ele é consultado antes de ser repetido.',
  ],
  bad_answer: ['A resposta do serviço não pôde ser entendida.', PROXY],
  base_url_invalid: ['O endereço do serviço é inválido.', 'Corrija service.base_url: o endereço começa com https.'],
  body_too_large: ['A resposta do serviço é grande demais.', 'Busque menos registros por vez.'],
  closed: ['O comando já estava parando.', 'Inicie o comando de novo.'],
  conflict: ['O serviço rejeitou a solicitação por conflito.', FIELDS],
  connection_lost: ['A conexão com o serviço caiu.', DOWN],
  deadline_missed: ['Há planos não confirmados até a hora-limite da véspera.', 'A lista de planos mostra por quê.'],
  differs: [
    'O serviço tem itens diferentes do que o ERP oferece, e nenhuma chamada pode mudá-los.',
    'Mude cada um no serviço, ou faça o ERP oferecer de novo o que foi enviado.',
  ],
  driver_unusable: ['O driver do SQLite não pode ser carregado.', 'Rode `npm ci` de novo, até o fim, nesta máquina.'],
  entry_changed: ['Uma pessoa mudou um item enquanto o ERP o oferecia.', PASSING],
  erp_address_unreadable: [
    'O endereço do banco de dados do ERP não pode ser lido.',
    'No usuário e na senha, escreva @ como %40, / como %2F, : como %3A, # como %23, ? como %3F e % como %25.',
  ],
  erp_answer_rejected: ['O ERP rejeitou a consulta.', 'Confira o endereço da fonte.'],
  erp_answer_too_large: ['A resposta do ERP é grande demais.', 'Faça o endereço devolver somente registros novos.'],
  erp_answer_unreadable: [
    'A resposta do ERP não pode ser lida como lista JSON.',
    'Abra o endereço da fonte em um navegador para vê-la e confira records da fonte.',
  ],
  erp_client_unknown: ['O tipo de banco de dados da fonte não existe.', 'Corrija client da fonte.'],
  erp_database_missing: ['O banco de dados do ERP não existe ou não abre.', 'Confira o nome na conexão da fonte.'],
  erp_driver_missing: [
    'O driver do banco de dados do ERP não está instalado.',
    'Instale-o na pasta do Roadbook: npx roadbook erp check mostra o comando.',
  ],
  erp_file_not_read: [
    'Um arquivo na pasta de entrada não é lido.',
    'Salve-o como .xlsx ou .csv com um nome mais curto, ou retire-o da pasta.',
  ],
  erp_folder_full: ['O disco da pasta de entrada está cheio.', 'Libere espaço. Nada do que foi gravado se perde.'],
  erp_folder_unusable: ['A pasta de entrada não pode ser usada.', 'Confira a pasta, o disco e as permissões.'],
  erp_login_rejected: ['O ERP rejeitou o usuário ou a senha.', 'Confira as credenciais da fonte.'],
  erp_mapping_wrong: ['O mapeamento da fonte não pode ser usado.', 'npx roadbook erp check sugere um.'],
  erp_nothing_changed: [
    'O comando da fonte não encontrou a linha do ERP, que por isso não sabe o resultado.',
    'Corrija a condição do comando acknowledge ou return.',
  ],
  erp_return_unreadable: [
    'Um arquivo de retorno não foi escrito pelo Roadbook.',
    'Retire o arquivo; um novo será criado.',
  ],
  erp_rows_unreadable: [
    'As linhas do ERP não podem ser lidas.',
    'npx roadbook erp check mostra cada uma e sugere um mapeamento.',
  ],
  erp_statement_rejected: ['O banco de dados do ERP rejeitou o comando da fonte.', STATEMENT],
  erp_unavailable: ['O ERP está ocupado ou não respondeu a tempo.', PASSING],
  erp_unreachable: ['O ERP não responde.', `Confira o endereço da fonte e a rede. ${PASSING}`],
  export_unwritable: ['A exportação não pôde ser gravada.', 'Confira o espaço em disco e as permissões.'],
  feed_unreadable: ['Um arquivo ou uma fonte do ERP não pôde ser lido.', 'A lista de planos mostra qual e o motivo.'],
  forbidden: ['A conta não tem acesso a esta chamada do serviço.', 'Peça o acesso ao serviço, ou desative a tarefa.'],
  images_unwritable: ['As imagens não puderam ser gravadas.', 'Confira warehouse.images, as permissões e o disco.'],
  items_partial: ['O serviço aceitou itens sem algumas de suas partes.', 'A lista de planos mostra quais e por quê.'],
  items_rejected: ['Há itens rejeitados ou arquivos ilegíveis.', 'A lista de planos mostra quais e por quê.'],
  lease_lost: [
    'O processo ficou parado por muito tempo, e outro assumiu a tarefa.',
    'Nada se perde. Confira a carga da máquina.',
  ],
  login_refused: ['O serviço recusou o login.', 'Corrija service.username, parent_username, password e realm.'],
  login_unavailable: ['O serviço não atende o login agora.', `Confira service.base_url. ${PASSING}`],
  no_period: ['Há itens a enviar sem período.', 'Corrija as datas no ERP, ou cancele o item.'],
  not_found: ['O serviço não encontrou o registro.', 'Ele foi apagado, ou falta uma parte em service.base_url.'],
  privacy_policies_differ: [
    'Outro processo grava dados pessoais por outra política de privacidade.',
    'Reinicie este processo; todos precisam da mesma configuração.',
  ],
  privacy_secret_differs: [
    'O segredo de privacidade difere entre as máquinas.',
    'Use o mesmo privacy.secret em todas.',
  ],
  queue_failed: ['A fila no PostgreSQL não pode ser usada.', 'Confira o servidor e as permissões do usuário.'],
  reader_lost: ['O processo que lia o banco para a exportação terminou.', 'Confira a memória e exporte de novo.'],
  redirected: ['O serviço redireciona para outro endereço.', 'Se confia nele, ponha-o em service.base_url.'],
  request_invalid: ['A solicitação ao serviço seria inválida e não foi enviada.', 'Corrija os campos indicados.'],
  request_rejected: ['O serviço não aceita esta solicitação.', FIELDS],
  secret_unreadable: [
    'O arquivo do segredo dos hashes não pode ser lido ou está vazio.',
    'Restaure o arquivo data/privacy.key, ou preencha privacy.secret.',
  ],
  service_failed: ['O serviço respondeu com um erro.', DOWN],
  service_unreachable: ['O serviço não responde.', `Confira service.base_url e a rede. ${PASSING}`],
  slice_given_up: ['Uma parte da busca falhou em todas as tentativas.', `O log mostra por quê. ${PASSING}`],
  slice_too_large: ['Uma parte da busca tem registros demais.', 'Confira o que o serviço devolve.'],
  stale_read: ['Uma leitura mais nova já estava gravada.', `Nada se perde. ${PASSING}`],
  stopped: ['A execução foi parada.', 'O que foi gravado fica; a próxima execução faz o resto.'],
  stops_without_code: [
    'Há paradas sem código, cujo resultado não volta ao ERP.',
    'Dê um external_code a cada parada no ERP.',
  ],
  throttled: ['O serviço limita as solicitações.', 'Se for frequente, baixe service.requests_per_minute.'],
  tick_taken: ['Outro processo fez esta execução.', 'Nada a fazer.'],
  timed_out: ['O serviço não respondeu a tempo.', DOWN],
  tls: ['O certificado do serviço não é confiável.', 'Confira service.base_url e o relógio da máquina.'],
  too_early: ['O serviço ainda não atende a solicitação.', DOWN],
  too_few_calls: ['As chamadas permitidas não bastam.', 'Aumente max_calls da tarefa.'],
  too_many: ['A parte da busca precisa de mais chamadas do que restam.', 'Aumente max_calls da tarefa.'],
  too_large: ['A solicitação é grande demais para o serviço.', 'Busque menos registros por vez.'],
  unauthorised: ['O serviço não aceita o token.', 'Pergunte ao serviço se a conta pode fazer esta chamada.'],
  unexpected: ['Houve um erro inesperado.', 'Se ocorrer de novo, relate-o com a linha do log.'],
  usage: ['O comando foi usado de forma errada.', 'Veja a mensagem original.'],
  warehouse_conflict: ['O banco de dados desfez a gravação por conflito.', `Nada foi gravado. ${PASSING}`],
  warehouse_corrupt: ['O arquivo do banco de dados está danificado.', 'Restaure uma cópia de segurança.'],
  warehouse_damaged: [
    'O banco de dados tem danos.',
    'Pare o serviço local, guarde o arquivo e restaure a última cópia.',
  ],
  warehouse_failed: ['O banco de dados rejeitou um comando.', 'É um defeito do Roadbook: relate-o com a linha do log.'],
  warehouse_full: ['O disco do banco de dados está cheio.', 'Libere espaço. Nada do que foi gravado se perde.'],
  warehouse_in_use: [
    'Há visões de outros que dependem das visões bi_.',
    'Apague-as, inicie o Roadbook e crie-as de novo.',
  ],
  warehouse_locked: ['Outro programa bloqueia o banco de dados.', `Encerre as transações longas. ${PASSING}`],
  warehouse_login_rejected: ['O banco de dados rejeitou o usuário ou a senha.', 'Confira warehouse.url.'],
  warehouse_newer: [
    'O banco de dados é de uma versão mais nova.',
    'Use aquela versão, ou restaure uma cópia anterior.',
  ],
  warehouse_unreachable: ['O banco de dados não responde.', WAREHOUSE_URL],
  warehouse_unwritable: ['O banco de dados não pode ser gravado.', 'Confira o caminho ou o endereço e as permissões.'],
};
