import { routeTable as r, type TargetFilterView } from "@harrier/contracts";
import { accessBuilder, type SignedUp } from "./access.ts";
import { builder, unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

/** Makes a query that matches no target. */
const nobody = (): string => `controllerid==${unique()}`;

/** Does what an administrator does with target filters, in one dialect. */
export function filterBuilder(dialect: Dialect) {
  const of = (filterId: number): CallOptions & { params: { filterId: number } } => ({ params: { filterId } });
  const filter = async (query = nobody(), more: object = {}): Promise<TargetFilterView> =>
    (await call<TargetFilterView>(r.targetFilters.create, dialect, { body: { name: unique("filter"), query, ...more } })).json;
  const get = async (id: number): Promise<TargetFilterView> => (await call<TargetFilterView>(r.targetFilters.get, dialect, of(id))).json;
  const assign = async (id: number, setId: number, more: object = {}): Promise<TargetFilterView> =>
    (await call<TargetFilterView>(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: setId, ...more } })).json;
  /** Makes a filter that waits for the approval of its auto-assignment: the suite's tenants demand it from users who may not approve. */
  const waiting = async (query: string, setId: number, auth: string): Promise<number> => {
    const { id } = await filter(query);
    await call(r.targetFilters.setAutoAssign, dialect, { ...of(id), body: { id: setId }, auth });
    return id;
  };
  const end = (id: number) => call(r.targetFilters.removeAutoAssign, dialect, of(id));
  return { of, filter, get, assign, waiting, end };
}

/** Makes a valid request for every route of target filters. */
export function filterRequests(dialect: Dialect): Record<string, ValidRequest> {
  const build = builder(dialect);
  const { of, filter, assign, waiting } = filterBuilder(dialect);
  const plain = async () => of((await filter()).id);
  const assigning = async () => {
    const [{ id }, set] = [await filter(), await build.set()];
    await assign(id, set.id);
    return { options: of(id), set };
  };
  let assigner: Promise<SignedUp> | undefined;
  const undecided = async () => {
    assigner ??= accessBuilder(dialect).user(["READ_TARGET", "UPDATE_TARGET", "READ_REPOSITORY"]);
    return { ...of(await waiting(nobody(), (await build.set()).id, (await assigner).auth)), body: { remark: "r" } };
  };
  return {
    "targetFilters.list": async () => {
      await assigning();
      return { query: { representation: "full", q: "name==*", sort: "id:DESC", limit: 5 } };
    },
    "targetFilters.create": () => ({ body: { name: unique("filter"), query: nobody() } }),
    "targetFilters.get": async () => (await assigning()).options,
    "targetFilters.update": async () => ({ ...(await plain()), body: { name: unique("filter"), query: nobody() } }),
    "targetFilters.delete": plain,
    "targetFilters.getAutoAssign": async () => (await assigning()).options,
    "targetFilters.setAutoAssign": async () => ({
      ...(await plain()),
      body: {
        id: (await build.set()).id,
        type: "soft",
        weight: 7,
        maintenanceWindow: { schedule: "0 0 2 ? * *", duration: "01:00", timezone: "Z" },
        confirmationRequired: false,
      },
    }),
    "targetFilters.removeAutoAssign": plain,
    "targetFilters.approveAutoAssign": undecided,
    "targetFilters.denyAutoAssign": undecided,
    "distributionSets.autoAssignFilters": async () => ({
      params: { distributionSetId: (await assigning()).set.id },
      query: { q: "name==*", sort: "name:ASC" },
    }),
  };
}
