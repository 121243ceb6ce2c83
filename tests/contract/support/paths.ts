import type { DistributionSetView } from "@harrier/contracts";
import { builder } from "./build.ts";
import type { Dialect } from "./call.ts";
import { filterBuilder } from "./filters.ts";
import { viewer } from "./look.ts";
import { rolloutBuilder } from "./rollout.ts";
import { eventually } from "./wait.ts";

/** Each of these paths gives a target an action. */
export const paths = ["an assignment", "the start of a rollout group", "an auto-assignment"] as const;
export type Path = (typeof paths)[number];

/** Gives a set to a target by each of the paths, and returns the action once it has begun and the actions that it supersedes are superseded. */
export function assignBy(dialect: Dialect) {
  const build = builder(dialect);
  const view = viewer(dialect);
  const rollout = rolloutBuilder(dialect);
  const { filter, assign, end } = filterBuilder(dialect);

  const byRollout = async (id: string, set: DistributionSetView, item: object): Promise<number> => {
    const made = await rollout.running(id, { distributionSetId: set.id, targetFilterQuery: `controllerid==${id}`, ...item });
    await rollout.groupsBecome(made.id, "running");
    return (await rollout.actionOf(id, made.id)).id;
  };
  const byFilter = async (id: string, set: DistributionSetView, item: object): Promise<number> => {
    const made = await filter(`controllerid==${id}`);
    await assign(made.id, set.id, item);
    const action = await eventually(async () => (await view.actions(id, { q: `distributionset.id==${set.id}` })).content[0], 60_000);
    await end(made.id);
    return action.id;
  };
  return (path: Path, id: string, set: DistributionSetView, item: { type?: string; weight?: number } = {}): Promise<number> => {
    if (path === "an assignment") return build.assign(set.id, id, item);
    return path === "an auto-assignment" ? byFilter(id, set, item) : byRollout(id, set, item);
  };
}
