import { epochMs } from "@harrier/query";

/** All tables of leases have the same form; the tenant and one more column identify a lease. */
export interface LeaseTable {
  table: "leases" | "auto_assign_leases" | "dynamic_leases";
  key: "rollout_id" | "filter_id";
  /** It selects the leases that can be claimed at present, if not all can; the others stay due. */
  among?: string;
}

const failureIn = ({ table, key }: LeaseTable): string =>
  `(select json_build_object('message', e.last_error, 'at', ${epochMs("e.failed_at")}, 'attempts', e.attempts) from ${table} e
     where e.tenant_id = t.tenant_id and e.${key} = t.id and e.last_error is not null)`;

/** Answers why the work on row `t` fails; null when it does not. */
export const failureOf = (...tables: LeaseTable[]): string => `coalesce(${tables.map(failureIn).join(", ")})`;

/**
 * Claims at most `$3` leases that are due and free, for `$2` seconds as owner `$1`. The tenant with the fewest leases in use comes first, then the
 * one that was claimed longest ago. A tenant never has more than `$4` with one owner, so that its long steps leave room for others. Two owners
 * never claim the same lease, because each skips what the other has locked. Leases of a suspended tenant stay due and are claimed when it is
 * resumed. A lease that its owner let expire counts as a failure.
 */
export const claimText = ({ table, key, among = table }: LeaseTable, also: { set: string; returning: string }): string => `
  with waiting as materialized (
    select tenant_id from ${among} w where due_at <= now() and (until is null or until <= now()) group by tenant_id
  ), ranked as materialized (
    select h.tenant_id, h.${key}, w.under_way + h.n as rank, w.last_claimed_at, h.due_at
      from (select q.tenant_id, count(o.owner) as under_way, count(*) filter (where o.owner = $1) as mine,
                   (select max(x.last_claimed_at) from ${table} x where x.tenant_id = q.tenant_id) as last_claimed_at
              from waiting q
              join management.tenants_v1 t on t.tenant_id = q.tenant_id and t.status = 'active'
              left join ${table} o on o.tenant_id = q.tenant_id and o.owner is not null and o.until > now()
             group by q.tenant_id) w,
           lateral (select d.tenant_id, d.${key}, d.due_at, row_number() over (order by d.due_at) as n
                      from ${among} d
                     where d.tenant_id = w.tenant_id and d.due_at <= now() and (d.until is null or d.until <= now())
                     order by d.due_at limit $4) h
     where w.mine + h.n <= $4
  ), due as (
    select b.tenant_id, b.${key} from ${table} b join ranked r on r.tenant_id = b.tenant_id and r.${key} = b.${key}
     where b.due_at <= now() and (b.until is null or b.until <= now())
     order by r.rank, r.last_claimed_at nulls first, r.due_at limit $3 for update of b skip locked
  )
  update ${table} l
     set owner = $1, until = now() + make_interval(secs => $2), last_claimed_at = now()${also.set},
         attempts = l.attempts + (l.owner is not null)::int,
         last_error = case when l.owner is null then l.last_error else 'The process that worked on it ended in the middle.' end,
         failed_at = case when l.owner is null then l.failed_at else now() end
    from due
   where l.tenant_id = due.tenant_id and l.${key} = due.${key}
   returning l.tenant_id as "tenantId", ${also.returning}`;
