// One row per person: agents (delivery persons) and drivers in one table, distinguished by is_deliveryman.
import { baseTable, boolean, date, instant, integer, text } from '../schema/table.ts';

const personal = { personal: true };
/** Official document numbers. Reports do not need the number itself, only whether two are equal. */
const personalDocument = { personal: true, policy: 'hash' } as const;

export const driver = baseTable({
  name: 'driver',
  meaning: 'Agents and drivers of the account.',
  source: 'GET /driver/',
  pulledBy: 'pull-drivers',
  key: ['id'],
  columns: {
    id: integer('Identifier given by the service.'),
    name: text('Name of the person.', personal),
    cpf: text('Personal tax number.', personalDocument),
    rg: text('Identity document number.', personalDocument),
    company_registry: text('Registration number in the company.', personal),
    email: text('Address for e-mail.', personal),
    phone_number: text('Telephone number.', personal),
    is_deliveryman: boolean(
      'True for an agent (delivery person), false for a driver; null if the service does not say.',
    ),
    identifier: text('Registered identifier number, such as that of a card.', personal),
    customer_id: integer('Account that the person belongs to.'),
    user_id: integer('Login of the person, as in checklist.user_id.'),
    department_id: integer('Department.', { alias: 'department.id' }),
    department_external_code: text('Code of the department in other systems.', { from: 'department.external_code' }),
    department_name: text('Name of the department.', { from: 'department.name' }),
    cost_center_id: integer('Cost centre.', { alias: 'cost_center.id' }),
    cost_center_name: text('Name of the cost centre.', { from: 'cost_center.name' }),
    work_shift_id: integer('Work shift.', { alias: 'work_shift.id' }),
    point_of_interest_id: integer('Point of interest that the person belongs to.'),
    state_id: integer('State of the address, as the service numbers it.', personal),
    cnh_category_id: integer('Category of the driving licence; see cnh_category.', { alias: 'cnh_category.id' }),
    cnh_number: text('Number of the driving licence.', personalDocument),
    cnh_date: date('Date of the driving licence.', personal),
    first_cnh_date: date('Date of the first driving licence.', personal),
    toxicology_expiration: date('Day on which the toxicology test expires.', personal),
    date_of_birth: date('Day of birth.', personal),
    date_created: instant('When the person was registered.'),
    status: text('Status of the registration, as the service names it.'),
    neighborhood: text('Neighbourhood of the address.', personal),
    number: text('House number of the address.', personal),
    cep: text('Postal code of the address.', personal),
  },
  indexes: [['user_id']],
});
