/**
 * Moves the revision of every set around the modules in `changed` (a relation of the statement, with `id`): what devices see of them
 * has changed. The rows are taken in the order of ids, so that two uploads into shared sets cannot lock each other out. `$1`: tenant.
 */
export const bumpSets = `bumped as (
     update distribution_sets s set revision = s.revision + 1
       from (select d.id from distribution_sets d
               join set_modules sm on sm.tenant_id = d.tenant_id and sm.set_id = d.id
               join changed c on c.id = sm.module_id
              where d.tenant_id = $1 order by d.id for update of d) l
      where s.tenant_id = $1 and s.id = l.id)`;
