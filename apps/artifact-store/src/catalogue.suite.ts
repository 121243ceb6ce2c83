import type { Bench } from "./testing.suite.ts";

/** Adds modules and grants. Modules 11 and 12 are in set 21, 13 is deleted, 14 is in no set. Devices have an action of set 21 as their names say. */
export async function seedCatalogue({ sql }: Bench): Promise<void> {
  const by = "'admin', 'admin'";
  await sql(`insert into management.tenants (tenant_id, name, default_set_type_id) values (1, 'DEFAULT', 11) on conflict do nothing`);
  await sql(`insert into management.software_module_types (tenant_id, id, key, name, max_assignments, created_by, last_modified_by)
             values (1, 11, 'os', 'OS', 1, ${by})`);
  await sql(
    `insert into management.distribution_set_types (tenant_id, id, key, name, created_by, last_modified_by) values (1, 11, 'os', 'OS', ${by})`,
  );
  await sql(`insert into management.software_modules (tenant_id, id, type_id, name, version, deleted, created_by, last_modified_by)
             select 1, id, 11, 'm' || id, '1', id = 13, ${by} from generate_series(11, 14) as id`);
  await sql(`insert into management.distribution_sets (tenant_id, id, type_id, name, version, created_by, last_modified_by)
             values (1, 21, 11, 's', '1', ${by})`);
  await sql(`insert into management.set_modules (tenant_id, set_id, module_id, position) values (1, 21, 11, 1), (1, 21, 12, 2)`);
  const devices = [
    { name: "open", status: 3, active: true },
    { name: "canceling", status: 5, active: true },
    { name: "canceled", status: 4, active: false },
    { name: "failed", status: 1, active: false },
    { name: "installed", status: 0, active: false },
    { name: "waiting", status: 11, active: true },
    { name: "scheduled", status: 8, active: false },
  ];
  for (const [i, { name, status, active }] of devices.entries()) {
    const id = 11 + i;
    await sql(
      `insert into controller.targets (tenant_id, id, controller_id, name, token_digest, token_cipher, created_by, last_modified_by)
       values (1, $1, $2, $2, '', '', ${by})`,
      [id, name],
    );
    await sql(
      `insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by, last_modified_by)
       values (1, $1::int, $1::int, $2, 21, $3, $4, 1, 'admin', ${by})`,
      [id, name, status, active],
    );
    const installed = name === "installed" ? id : null;
    await sql(`insert into controller.target_state (tenant_id, target_id, installed_set_id, installed_action_id) values (1, $1, $2, $3)`, [
      id,
      installed === null ? null : 21,
      installed,
    ]);
  }
}
