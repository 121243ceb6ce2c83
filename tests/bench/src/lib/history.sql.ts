/** Each target has had so many updates; each wrote so many entries, spread over so many days. */
export const updatesPerTarget = 5;
const entriesPerUpdate = 3;
const days = 90;
/** This is above every id that the services assign. */
const firstAction = 1_000_000_000;
const finished = 0;

/** The closed actions of one update of each target of a prefix. Neither keys nor triggers are what is measured. */
export const oneUpdate = `
  insert into controller.actions (tenant_id, id, target_id, controller_id, set_id, status, active, force_type, initiated_by, created_by,
                                  last_modified_by, created_at, revision)
    select 1, ${firstAction} + $1::int * $2::int + row_number() over (), t.id, t.controller_id, $3, ${finished}, false, 1, 'x', 'x', 'x',
           now() - (t.id % ${days}) * interval '1 day', ${entriesPerUpdate}
      from controller.targets t where t.tenant_id = 1 and t.controller_id like $4 || '%'`;

export const entriesOfUpdates = `
  insert into controller.action_history (tenant_id, action_id, revision, status, messages, occurred_at, reported_at)
    select 1, a.id, n, 3, array['Update Server: entry ' || n], a.created_at, a.created_at
      from controller.actions a cross join generate_series(1, ${entriesPerUpdate}) n where a.tenant_id = 1 and a.id > ${firstAction}`;

export const settleHistory = "vacuum analyze controller.actions, controller.action_history";
