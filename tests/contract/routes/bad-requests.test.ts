import { isEventStream, type Route } from "@harrier/contracts";
import { beforeAll, describe, expect, it } from "vitest";
import { oddTexts } from "../support/bad-values.ts";
import { ask, type CallOptions, dialects } from "../support/call.ts";
import { credentials } from "../support/http.ts";
import { createFixture, type Fixture, snapshot } from "../support/tenant.fixture.ts";
import { inOwnTenant } from "../support/tenants.ts";
import { forEach } from "../support/wait.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

/*
 * These requests are made from the route table. That no answer is a 500 and that each error has its form is checked for every answer of the suite
 * (support/answer-rules.ts).
 */
describe.each(dialects)("bad requests to every route, %s", (dialect) => {
  inOwnTenant(dialect, 2);
  let fixture: Fixture;
  let requests: Record<string, ValidRequest>;
  let before: unknown[];
  beforeAll(async () => {
    fixture = await createFixture(dialect, "action.cleanup.auto.expiry");
    requests = validRequests(fixture);
    before = await snapshot(fixture);
  });
  const request = async (id: string): Promise<CallOptions> => (requests[id] as ValidRequest)();

  it.each(routesOn(dialect))("%s without a credential, or with one of the other interface: 401", async (id, route, surface) => {
    const options = await request(id);
    const [scheme, other] = surface === "device" ? ["ApiKey", credentials.admin] : ['Basic realm="hawkBit"', credentials.gateway];
    await forEach([null, "", "Basic Og==", "Bearer x", "GatewayToken wrong", "TargetToken wrong", other], async (auth) => {
      const { status, headers } = await ask(route, surface, { ...options, auth });
      const challenge = surface !== "device" && auth === "Bearer x" ? 'Bearer error="invalid_token"' : scheme;
      expect([status, headers["www-authenticate"]], String(auth)).toEqual([401, challenge]);
    });
  });

  // Requests are read alike in both dialects, but permissions are checked in each.
  const read = dialect === "spec" ? routesOn(dialect) : [];

  it.each(read)("%s by another method: 405, with another Accept: 406 where it answers JSON", async (id, route, surface) => {
    const options = await request(id);
    expect((await ask(route, surface, { ...options, method: "PATCH" })).status).toBe(405);
    if (route.response === undefined) return;
    for (const accept of ["text/xml", "application/json;q=0"]) {
      expect((await ask(route, surface, { ...options, headers: { ...options.headers, accept } })).status).toBe(406);
    }
  });

  it.each(read.filter(([, route]) => route.path.includes(":")))("%s with odd ids in its path", async (id, route, surface) => {
    const options = await request(id);
    const cases = Object.keys(options.params ?? {}).flatMap((name) => oddIds(name, route).map((odd) => [name, ...odd] as const));
    await forEach(cases, async ([name, value, expected]) => {
      const answer = await ask(route, surface, { ...options, params: { ...options.params, [name]: value } });
      expect(expected, `${name}=${value.slice(0, 60)} answered ${answer.status} ${answer.text}`).toContain(answer.status);
    });
  });

  const withQuery = read.filter(([, route]) => route.query !== undefined && route.bodyKind !== "multipart");
  it.each(withQuery)("%s with odd queries", async (id, route, surface) => {
    const options = await request(id);
    const names = Object.keys((route.query as unknown as { shape: object }).shape);
    const accepts = (query: object) => route.query?.safeParse(query).success === true;
    // A well-formed query would be carried out.
    const cases = names
      .flatMap((name) => oddTexts.map((text): Record<string, string> => ({ [name]: text })))
      .filter((query) => route.method === "GET" || !accepts(query));
    // A stream that is not refused goes on until the time that is asked for.
    const ending = (query: Record<string, string>) => (isEventStream(route) && accepts(query) ? { ...query, ...options.query } : query);
    await forEach(cases, async (query) => {
      const { status, text } = await ask(route, surface, { ...options, query: ending(query) });
      expect(accepts(query) ? [200, 400] : [400], `${JSON.stringify(query).slice(0, 80)} answered ${status} ${text}`).toContain(status);
    });
    if (route.method === "GET")
      expect((await ask(route, surface, { ...options, query: { ...options.query, nothing: "x" } })).status).toBe(route.success[surface]);
  });

  it("none of these requests has changed anything", async () => {
    expect(await snapshot(fixture)).toEqual(before);
  });
});

/** Lists values for a parameter of a path, and the statuses that may answer them. */
function oddIds(name: string, route: Route): [value: string, expected: number[]][] {
  if (name === "tenant") return ["NOBODY", "x".repeat(2_000), "a\u0000b", "'", "DEFAULT "].map((value) => [value, [401]]);
  // Any text is the name of a group, at least of an empty one.
  if (name === "group")
    return [
      ["a\u0000b", [400]],
      ["x".repeat(2_000), route.method === "GET" ? [200] : [400]],
      ["'; drop table x; --", [200]],
    ];
  const device = route.interface === "device";
  // An unknown device would be registered, and an unknown setting is no entity (contract management.md §8.2).
  const registers = route.id === "device.poll" || route.id === "device.confirmationBase";
  const unknown = registers || (name === "key" && route.id.startsWith("configs.")) ? 400 : 404;
  const texts: [string, number[]][] = [
    ["x".repeat(2_000), [unknown]],
    // No device has such a name, so the sign-in may fail.
    ["a\u0000b", device && name === "controllerId" ? [400, 401] : [400]],
    ["'; drop table x; --", [unknown]],
  ];
  if (/^(controllerId|targetId|key|fileName|permission|metadataKey|tenantName|clientId|auditId|uploadId)$/.test(name)) {
    return registers ? texts : [...texts, ["nobody-at-all", [unknown]], ["ünknown", [unknown]]];
  }
  const noNumber = ["abc", "1.5", "0x10", "1e3", "99999999999999999999", " 1", "1;1", "x".repeat(2_000), "a\u0000b", "+5"];
  const noEntity = ["2000000000", "-1", "0", "9223372036854775807", "-9223372036854775808"];
  // This route does not check whether the group belongs to the rollout (contract rollouts.md §2).
  const absent = route.id === "rollouts.groupTargets" && name === "groupId" ? [200, 404] : [404];
  return [...noNumber.map((value): [string, number[]] => [value, [400]]), ...noEntity.map((value): [string, number[]] => [value, absent])];
}
