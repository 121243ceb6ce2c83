/**
 * Increases the revision of every set that has one of the modules in `changed` (a relation of the statement, with `id`), because what
 * devices see of these sets has changed. The rows are locked in the order of ids, so that two uploads into shared sets cannot deadlock.
 * `$1` is the tenant.
 */
export const bumpSets = `bumped as (
     update distribution_sets s set revision = s.revision + 1
       from (select d.id from distribution_sets d
               join set_modules sm on sm.tenant_id = d.tenant_id and sm.set_id = d.id
               join changed c on c.id = sm.module_id
              where d.tenant_id = $1 order by d.id for update of d) l
      where s.tenant_id = $1 and s.id = l.id)`;
