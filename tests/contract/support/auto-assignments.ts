import { type AutoAssignmentView, routeTable as r } from "@harrier/contracts";
import { accessBuilder, type SignedUp } from "./access.ts";
import { builder, unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

const anHour = 3_600_000;

/** Does what an administrator does with auto-assignments, in one dialect. */
export function autoAssignmentBuilder(dialect: Dialect) {
  const build = builder(dialect);
  const of = (autoAssignmentId: number): CallOptions & { params: { autoAssignmentId: number } } => ({ params: { autoAssignmentId } });
  const bodyOf = async (more: object = {}) => ({
    name: unique("auto"),
    targetFilterQuery: `controllerid==${unique()}`,
    distributionSetId: (await build.set()).id,
    ...more,
  });
  const create = async (more: object = {}, options: CallOptions = {}): Promise<AutoAssignmentView> =>
    (await call<AutoAssignmentView>(r.autoAssignments.create, dialect, { ...options, body: await bodyOf(more) })).json;
  const get = async (id: number) => (await call<AutoAssignmentView>(r.autoAssignments.get, dialect, of(id))).json;
  const step = (name: "start" | "pause" | "resume" | "approve" | "deny" | "delete", id: number, more: CallOptions = {}) =>
    call(r.autoAssignments[name], dialect, { ...of(id), ...more });
  return { of, bodyOf, create, get, step };
}

/** Makes a valid request for every route of auto-assignments. */
export function autoAssignmentRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { of, bodyOf, create, step } = autoAssignmentBuilder(dialect);
  const running = async () => of((await create()).id);
  let assigner: Promise<SignedUp> | undefined;
  const undecided = async () => {
    assigner ??= accessBuilder(dialect).user(["UPDATE_TARGET", "READ_REPOSITORY"]);
    return { ...of((await create({}, { auth: (await assigner).auth })).id), query: { remark: "r" } };
  };
  return {
    "autoAssignments.list": async () => {
      await create();
      return { query: { q: "name==*;status==running", sort: "id:DESC", limit: 5 } };
    },
    "autoAssignments.create": async () => ({
      body: await bodyOf({ description: "d", startAt: 1, actionType: "soft", weight: 7, confirmationRequired: false }),
    }),
    "autoAssignments.get": running,
    "autoAssignments.update": async () => ({ ...(await running()), body: { name: unique("auto"), description: "e" } }),
    "autoAssignments.delete": running,
    "autoAssignments.approve": undecided,
    "autoAssignments.deny": undecided,
    "autoAssignments.start": async () => of((await create({ startAt: Date.now() + anHour })).id),
    "autoAssignments.pause": running,
    "autoAssignments.resume": async () => {
      const options = await running();
      await step("pause", options.params.autoAssignmentId);
      return options;
    },
    "distributionSets.autoAssignments": async () => ({
      params: { distributionSetId: (await create()).distributionSetId },
      query: { q: "name==*", sort: "name:ASC" },
    }),
  };
}
