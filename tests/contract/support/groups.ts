import { routeTable as r, type TargetView } from "@harrier/contracts";
import { builder, unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import type { Page } from "./look.ts";
import type { ValidRequest } from "./walk.ts";

/** Does what an administrator does with groups of targets, in one dialect. */
export function groupBuilder(dialect: Dialect) {
  const build = builder(dialect);
  /** Makes a target in a group and returns its controllerId. */
  const member = async (group: string): Promise<string> => (await build.target({ group })).controllerId;
  /** Reads the controllerIds of the targets of a group, sorted. */
  const members = async (group: string, query: CallOptions["query"] = {}): Promise<string[]> => {
    const { json } = await call<Page<TargetView>>(r.targetGroups.listTargets, dialect, { query: { group, limit: 500, ...query } });
    return json.content.map(({ controllerId }) => controllerId).sort();
  };
  /** Reads all groups, however many pages they take. */
  const names = async (): Promise<string[]> => (await call<string[]>(r.targetGroups.list, dialect)).json;
  return { member, members, names };
}

/** Makes a valid request for every route of target groups, each about targets of its own. */
export function groupRequests(dialect: Dialect): Record<string, ValidRequest> {
  const build = builder(dialect);
  const { member } = groupBuilder(dialect);
  const one = async () => [(await build.target()).controllerId];
  const queryOf = (controllerId: string) => `controllerid==${controllerId}`;
  const grouped = async () => {
    const group = unique("group");
    return { group, controllerId: await member(group) };
  };
  return {
    "targetGroups.list": async () => {
      await grouped();
      return { query: { limit: 5 } };
    },
    "targetGroups.listTargets": async () => {
      const { group } = await grouped();
      return { query: { group, subgroups: true, q: "name==*", sort: "group:ASC" } };
    },
    "targetGroups.listTargetsOf": async () => ({ params: { group: (await grouped()).group }, query: { sort: "name:ASC" } }),
    "targetGroups.assign": async () => ({ query: { group: `${unique("group")}/below` }, body: await one() }),
    "targetGroups.assignByQuery": async () => ({ query: { group: unique("group"), q: queryOf((await one())[0] as string) } }),
    "targetGroups.assignTo": async () => ({ params: { group: unique("group") }, body: await one() }),
    "targetGroups.assignToByQuery": async () => ({ params: { group: unique("group") }, query: { q: queryOf((await one())[0] as string) } }),
    "targetGroups.unassign": async () => ({ body: [(await grouped()).controllerId] }),
    "targetGroups.unassignByQuery": async () => ({ query: { q: queryOf((await grouped()).controllerId) } }),
  };
}
