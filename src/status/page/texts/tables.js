// @ts-check
// What each table and view holds, in Brazilian Portuguese. The English sentence comes with the dictionary of the server.
/** @type {Record<string, string>} */
export const ptTables = {
  bi_calendar: 'Uma linha por dia local, de dez anos atrás a dois adiante, com seus limites em UTC.',
  bi_checklist_answer: 'Uma linha por resposta de checklist: pergunta, resposta, risco, foto, agente, hora e lugar.',
  bi_day_status:
    'Uma linha por dia local dos últimos 400 e tabela de fatos: fechado, provisório ou lacuna. Não depende de o dia ter linhas.',
  bi_delivery:
    'Uma linha por parada de um plano de rota: hora planejada e de execução, atraso, desfecho, motivo, ordem e comprovantes.',
  bi_driver_day:
    'Uma linha por motorista e dia local: distância, marcha lenta, excesso de velocidade; provisória até is_final.',
  bi_event: 'Uma linha por evento de um veículo: viagens, excesso de velocidade, marcha lenta, sensores.',
  bi_event_day:
    'Eventos por dia local, veículo e categoria: quantidade, duração, distância. Os totais de bi_event, muito mais rápidos.',
  bi_freshness: 'Uma linha por tabela: linhas, última alteração, última leitura e até quando a tabela está completa.',
  bi_missing_proof:
    'Uma linha por parada executada sem a foto, a assinatura ou o checklist que a configuração exige.',
  bi_push: 'Uma linha por item que o ERP quer enviar: estado, motivo, tentativas e duração.',
  bi_route_plan:
    'Uma linha por plano de rota: período planejado, veículo e agente, andamento e pontualidade das paradas.',
  bi_vehicle_day:
    'Uma linha por veículo e dia local: distância, uso, marcha lenta, excesso de velocidade; provisória até is_final.',
  bi_verification: 'Uma linha por dia verificado de uma tabela: linhas relidas, comparadas e corrigidas.',
  checklist: 'Checklists preenchidos, uma linha para cada um.',
  checklist_answer: 'Respostas dos checklists, uma linha por campo.',
  cnh_category: 'Categorias da carteira de motorista.',
  daily_summary: 'Números de uso de cada veículo e de cada motorista por dia local.',
  daily_summary_revision: 'Números de daily_summary que o serviço alterou depois da primeira leitura.',
  driver: 'Agentes e motoristas da conta.',
  event: 'Eventos rastreados dos veículos: viagens, excesso de velocidade, marcha lenta, sensores e outros.',
  event_category: 'Categorias de eventos.',
  event_day: 'Eventos por dia local, veículo e categoria, contados quando são carregados.',
  image: 'Fotos e assinaturas, com seus arquivos.',
  itinerary: 'Itinerários de veículos e motoristas.',
  local_day: 'Dias do fuso horário configurado, cada um com seus limites em UTC.',
  point_of_interest: 'Pontos de interesse da conta.',
  point_of_interest_category: 'Categorias de pontos de interesse.',
  proof_rule: 'Os comprovantes que uma parada executada precisa ter, conforme a configuração.',
  push_attempt: 'Cada envio, consulta e ação manual de um item a enviar.',
  push_outbox: 'Cada item que o ERP quer enviar, com seu estado e o motivo dele.',
  push_return: 'O desfecho de cada parada de um plano enviado, como foi informado ao ERP pela última vez.',
  route_plan: 'Planos de rota com seu estado.',
  route_plan_status: 'Estados de um plano de rota.',
  route_point: 'Pontos dos planos de rota, na ordem planejada e na otimizada.',
  route_point_execution: 'O que aconteceu nos pontos: lugar, hora, comprovantes, motivos.',
  route_point_item: 'Itens a entregar ou coletar nos pontos.',
  route_point_status: 'Estados de um ponto de rota.',
  schema_view: 'As visões que existem, com o resumo criptográfico de suas consultas.',
  status_change: 'Cada mudança de estado observada de um plano ou de um ponto de rota.',
  sync_audit: 'Cada ação pedida pela página ou pela API.',
  sync_control: 'Ações para os processos: quais tarefas estão pausadas, quais devem ser executadas agora.',
  sync_coverage: 'Períodos de cada tarefa e escopo que foram lidos por inteiro.',
  sync_daemon: 'Os processos que executam tarefas neste banco de dados, cada um com seu último sinal.',
  sync_lease: 'Qual processo executa uma tarefa, para que vários dividam um banco de dados.',
  sync_quarantine: 'Registros inválidos: os que não cabem em sua tabela, guardados por inteiro com o motivo.',
  sync_rate: 'O limite de chamadas de uma conta no serviço, dividido por todos os processos de um PostgreSQL.',
  sync_run: 'Cada execução de cada tarefa.',
  sync_state: 'Fatos aprendidos durante a execução, guardados entre reinícios.',
  sync_verification:
    'Resultados das verificações: as linhas de uma amostra de dias, relidas e comparadas com o banco de dados.',
  table_job: 'Qual tarefa preenche qual tabela, e quais escopos de leitura determinam a atualidade dela.',
  time_zone_offset: 'Diferenças do fuso horário configurado para UTC, uma linha por período.',
  vehicle: 'Veículos da conta.',
  vehicle_status: 'Estados de um veículo.',
};
