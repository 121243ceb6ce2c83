import { type Route, routes, takesIfMatch } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { ask, type CallOptions, call, dialects, refused } from "../support/call.ts";
import { createFixture } from "../support/tenant.fixture.ts";
import { type ValidRequest, validRequests } from "../support/walk.ts";

const changed = [412, "preconditionFailed"] as const;
/** A tag that looks like one of ours, of a revision that no row reaches. */
const stale = `"07fffffff${"0".repeat(24)}"`;
const demanding = routes.filter((route) => takesIfMatch(route) && route.interface === "management" && route.method !== "GET");
/** What is replaced without being read alone has the tag of what it is read with. */
const readWith: Readonly<Record<string, string>> = { "roles.replaceScopes": "roles.get" };
/** The GET of the entity: what is decided about it, or set on it, has a path of its own below. */
const readOf = ({ id, path }: Route) => {
  const entity = path.replace(/(\/autoAssignDS)?\/(approve|deny)$|\/(autoAssignDS|confirmation|password)$/, "");
  return routes.find((route) => (readWith[id] ? route.id === readWith[id] : route.method === "GET" && route.path === entity)) as Route;
};
/** What can be done but once: a decision. */
const isDecision = ({ path }: Route) => /\/(approve|deny)$/.test(path);

it("ADR 40 decisions, and what a filter assigns, take If-Match", () => {
  const posts = demanding.filter(({ method }) => method === "POST").map(({ id }) => id);
  expect(posts.sort()).toEqual([
    ...["autoAssignments.approve", "autoAssignments.deny", "rollouts.approve", "rollouts.deny"],
    ...["targetFilters.approveAutoAssign", "targetFilters.denyAutoAssign", "targetFilters.setAutoAssign"],
  ]);
});

/** They replace nothing that was read: they add or hand over something, or begin or end something, and can be repeated. */
const commands = [
  ...["artifactUploads.sendPart", "distributionSetTags.assignByPut", "messaging.setPasswords", "targetTags.assignByPut"],
  ...["targetGroups.assign", "targetGroups.assignByQuery", "targetGroups.assignTo", "targetGroups.assignToByQuery"],
];

it("ADR 40 every PUT takes If-Match, but commands that overwrite nothing", () => {
  const puts = routes.filter((route) => route.interface === "management" && route.method === "PUT" && !takesIfMatch(route));
  expect(puts.map(({ id }) => id).sort()).toEqual(commands.toSorted());
});

it("ADR 40 every entity that is read alone and replaced or deleted takes If-Match, but those without a revision of their own", () => {
  const withoutRevision =
    /^(artifacts|artifactUploads|operations|actions|me|messaging)\.|^configs.delete$|deleteMetadata$|cancelAction$|AutoConfirm|Mandatory|Optional/;
  const editable = routes.filter(({ id, method, path, interface: of }) => {
    const single = of === "management" && (method === "PUT" || method === "DELETE") && !withoutRevision.test(id);
    return single && routes.some((other) => other.method === "GET" && other.path === path && other.query === undefined);
  });
  expect(editable.filter((route) => !takesIfMatch(route)).map(({ id }) => id)).toEqual(["targetFilters.removeAutoAssign"]);
});

describe.each(dialects)("If-Match, %s", (dialect) => {
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    requests = validRequests(await createFixture(dialect, "action.cleanup.onQuotaHit.percent"));
  });
  const requestOf = (id: string) => (requests[id] as ValidRequest)();
  const tagOf = async (route: Route, { params }: CallOptions) =>
    (await call<unknown>(readOf(route), dialect, params === undefined ? {} : { params })).headers["etag"] as string;
  const having = (options: CallOptions, tag: string): CallOptions => ({ ...options, headers: { ...options.headers, "if-match": tag } });

  it.each(demanding.map((route) => [route.id, route] as const))("console M20 %s", async (id, route) => {
    const options = await requestOf(id);
    const tag = await tagOf(route, options);
    expect(tag).toMatch(/^"0[0-9a-f]{32}"$/);
    // Nothing happens to what is not as it was read, whatever the header looks like.
    for (const other of [stale, '"x"', `"x", W/${stale}`]) await refused(route, dialect, having(options, other), changed);
    expect(await tagOf(route, options)).toBe(tag);
    if (route.method !== "DELETE") {
      // Of two writers who have read the same, one wins, whichever that is.
      const both = await Promise.all([1, 2].map(() => ask(route, dialect, having(options, tag))));
      expect(both.map(({ status }) => status).sort()).toEqual([route.success[dialect], 412]);
      await refused(route, dialect, having(options, tag), changed);
      if (isDecision(route)) return;
      const next = await tagOf(route, options);
      expect(next).not.toBe(tag);
      // One of several tags is enough, and proxies that compress make them weak.
      await call<unknown>(route, dialect, having(options, `${stale}, W/${next}`));
      await call<unknown>(route, dialect, having(options, "*"));
    } else await call<unknown>(route, dialect, having(options, tag));
  });

  it("console M20 what does not exist is 404 with the header too", async () => {
    for (const [id, params] of [
      ["targets.update", { targetId: "nobody" }],
      ["targets.delete", { targetId: "nobody" }],
      ["softwareModules.update", { softwareModuleId: 2_147_483_000 }],
      ["targetTags.delete", { targetTagId: 2_147_483_000 }],
      ["rollouts.update", { rolloutId: 2_147_483_000 }],
      ["rollouts.delete", { rolloutId: 2_147_483_000 }],
      ["rollouts.approve", { rolloutId: 2_147_483_000 }],
      ["targetFilters.setAutoAssign", { filterId: 2_147_483_000 }],
    ] as const) {
      const route = routes.find((one) => one.id === id) as Route;
      await refused(route, dialect, having({ ...(await requestOf(id)), params }, stale), [404]);
    }
  });
});
