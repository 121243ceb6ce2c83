import type { NamedSet } from "@harrier/contracts";
import { type Columns, epochMs, jsonObject, type TargetRow, targetColumns, targetJoins } from "@harrier/query";

/** A target with what consoles show beside it: its sets, the action that its device is offered first, and its tags. */
export interface FullTargetRow extends TargetRow {
  assignedSet: NamedSet | null;
  installedSet: NamedSet | null;
  openAction: { id: number; status: number; since: number; rolloutId: number | null } | null;
  tags: { id: number; name: string; colour: string | null }[];
}

/** A row shows so many tags at most, so that its size has a bound; the target's own list of tags has all of them. */
const maxTags = 50;

/** Names a set only if the target has one; a set that a target has had is never removed. */
const named = (alias: string): string =>
  `case when ${alias}.id is not null then ${jsonObject({ id: `${alias}.id`, name: `${alias}.name`, version: `${alias}.version` })} end`;

const openAction = jsonObject({ id: "a.id", status: "a.status", since: epochMs("a.created_at"), rolloutId: "a.rollout_id" });
const tag = jsonObject({ id: "g.id", name: "g.name", colour: "g.colour" });

/** The columns over a `controller.targets_v1` row `t` behind `fullTargetJoins`; each is read by key, for the rows of the page alone. */
export const fullTargetColumns: Columns = {
  ...targetColumns,
  assignedSet: named("assigned"),
  installedSet: named("installed"),
  // in the order in which the device is offered its actions
  openAction: `(select ${openAction} from controller.actions_v1 a
     where a.tenant_id = t.tenant_id and a.target_id = t.id and a.active order by a.weight desc, a.id limit 1)`,
  tags: `(select coalesce(jsonb_agg(${tag} order by g.name, g.id), '[]'::jsonb)
     from (select tg.id, tg.name, tg.colour from controller.target_tag_links_v1 l
             join target_tags tg on tg.tenant_id = l.tenant_id and tg.id = l.tag_id
            where l.tenant_id = t.tenant_id and l.target_id = t.id order by tg.name, tg.id limit ${maxTags}) g)`,
};

export const fullTargetJoins = `${targetJoins}
  left join distribution_sets assigned on assigned.tenant_id = t.tenant_id and assigned.id = t.assigned_set_id
  left join distribution_sets installed on installed.tenant_id = t.tenant_id and installed.id = t.installed_set_id`;
