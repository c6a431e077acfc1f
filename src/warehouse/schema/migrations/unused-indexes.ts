// Indexes that no query uses: each made every load of its table slower.
import type { Migration } from './migration.ts';

const UNUSED = [
  'checklist_user_id_date_executed',
  'checklist_checklist_form_id',
  'checklist_answer_checklist_form_field_id',
  'checklist_answer_picture',
  'checklist_answer_risk_level',
  'driver_cpf',
  'driver_company_registry',
  'driver_cost_center_id',
  'driver_department_id',
  'image_sha256',
  'itinerary_vehicle_id_date_time_start',
  'itinerary_driver_id',
  'itinerary_external_id',
  'point_of_interest_title',
  'point_of_interest_point_of_interest_category_id',
  'route_plan_status',
  'route_plan_vehicle_id_date_time_start',
  'route_point_external_code',
  'route_point_status',
  'route_point_execution_return_date',
  'vehicle_plate',
  'vehicle_status',
];

export const unusedIndexes: Migration = {
  name: '2026-11-17 drop unused indexes',
  async up(sql) {
    for (const name of UNUSED) await sql.raw(`drop index if exists "idx_${name}"`);
  },
};
