import { type Route, routeTable as r, routes } from "@harrier/contracts";
import { encode } from "cborg";
import fc from "fast-check";
import { beforeAll, expect, it } from "vitest";
import { build, unique } from "../support/build.ts";
import { call } from "../support/call.ts";
import { device, report } from "../support/device.ts";
import { credentials, type Headers, send, trustsUs } from "../support/http.ts";
import { view } from "../support/look.ts";

/*
 * A client that has signed in sends arbitrary requests. That no answer is a 5xx and that each error has its form is checked for every answer
 * (support/answer-rules.ts). These tests check that only documented statuses occur, that a denied request changes nothing, and that no request
 * reaches another device. After a failure fast-check prints seed and path.
 */

const runs = 500;
/** Reports close an action sooner or later, so the device gets a new one after this many requests. */
const runsPerAction = 50;
const statuses = [200, 201, 206, 304, 400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 416, 429];

interface Work {
  actionId: number;
  moduleId: number;
  fileName: string;
}
interface Own {
  controllerId: string;
  auth: string;
  /** The newest deployment comes first, then the one that it has superseded. */
  work: [Work, ...Work[]];
}
let own: Own;
let other: Own;

async function assignTo(controllerId: string): Promise<Work> {
  const { set, moduleId, artifact } = await build.setWithArtifact();
  const actionId = await build.assign(set.id, controllerId);
  await device(controllerId).feedback(actionId, report("proceeding", "none", { details: ["before"] }));
  return { actionId, moduleId, fileName: artifact.providedFilename };
}

async function makeDevice(): Promise<Own> {
  const controllerId = unique("fuzz");
  const { securityToken } = await build.target({ controllerId });
  const work = await assignTo(controllerId);
  await device(controllerId).configData({ data: { a: "b" } });
  return { controllerId, auth: credentials.target(String(securityToken)), work: [work] };
}

/** Reads everything of a device that a request could have changed. */
async function stateOf({ controllerId, work }: Own): Promise<unknown> {
  const [target, attributes, list, confirmation, ...histories] = await Promise.all([
    view.target(controllerId),
    view.attributes(controllerId),
    view.actions(controllerId),
    call<unknown>(r.targets.autoConfirm, "spec", { params: { targetId: controllerId } }),
    ...work.map(({ actionId }) => view.history(controllerId, actionId)),
  ]);
  // A denied device has still polled, and downloads are recorded a moment after they happen.
  const { lastControllerRequestAt: _, pollStatus: __, ...rest } = target;
  const entries = histories.flat().flatMap(({ id: _id, ...entry }) => (entry.type === "download" ? [] : [entry]));
  const actions = list.content.map(({ lastModifiedAt: _at, ...action }) => action);
  return { target: rest, attributes, actions, entries, confirmation: confirmation.json };
}

const deviceRoutes = routes.filter((route) => route.interface === "device");

const numbers = fc.oneof(fc.maxSafeInteger(), fc.double(), fc.constantFrom(0, -1, 2 ** 31, 2 ** 31 - 1, 2 ** 53, 1e300, -0));
const words = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ minLength: 300, maxLength: 600 }),
  fc.constantFrom("", "..", "../..", "%", "\u0000", "\ud800", "'; drop table targets; --", "__proto__", "constructor", "ü".repeat(200)),
);
/** Makes one segment of a path as it goes over the wire, encoded or broken. */
const segments = fc.oneof(
  words.map((text) => encodeURIComponent(text.toWellFormed())),
  numbers.map((n) => encodeURIComponent(String(n))),
  fc.constantFrom("%", "%zz", "%2F", "%2e%2e%2f", "..%5c", ";", "a;b=c", "%00", "%ff%fe", "%c0%af", "{x}", "~", "*", "a+b"),
);

function valid(name: string, whose: "mine" | "earlier" | "other"): string {
  const one = whose === "other" ? other : own;
  const work = (whose === "earlier" ? one.work[1] : undefined) ?? one.work[0];
  const values: Record<string, string> = {
    tenant: "DEFAULT",
    controllerId: one.controllerId,
    actionId: String(work.actionId),
    softwareModuleId: String(work.moduleId),
    fileName: work.fileName,
  };
  return encodeURIComponent(values[name] ?? "x");
}

/** Chooses the value of a parameter: mostly the device's own, else that of its earlier deployment, that of the other device, or anything. */
const choice = fc.oneof(
  { weight: 15, arbitrary: fc.constant({ kind: "mine" as const }) },
  { weight: 3, arbitrary: fc.constant({ kind: "earlier" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "other" as const }) },
  { weight: 1, arbitrary: segments.map((text) => ({ kind: "odd" as const, text })) },
);

const printable = fc.string({ unit: fc.constantFrom(..."abcXYZ019 =;,:/*\"'%-_.()[]{}"), maxLength: 60 }).map((text) => text.trim());
const header = (...known: string[]) => fc.option(fc.oneof(fc.constantFrom(...known), printable), { nil: undefined, freq: 2 });
const headers = fc.record({
  accept: header(
    "application/hal+json",
    "application/json;q=0.5",
    "application/cbor",
    "application/cbor;q=0.5, application/json",
    "*/*",
    "text/html",
    "application/json, text/plain",
    "a/b;q=x",
  ),
  "content-type": header(
    "application/json",
    "application/json;charset=utf-16",
    "application/cbor",
    "text/plain",
    "application/hal+json",
    "multipart/form-data",
  ),
  range: header("bytes=0-3", "bytes=-2", "bytes=5-1", "bytes=0-0,2-3", "bytes=99999999999999999999-", "items=0-1", "bytes=-0"),
  "if-none-match": header("*", '"x"', 'W/"x", "y"'),
  "if-match": header("*", '"x"', "x"),
  "if-range": header('"x"', "Sat, 21 Nov 2026 00:00:00 GMT", "yesterday"),
  "x-harrier-identity": header("v2.k1.e30.AAAA"),
  "x-harrier-budget": header("-1", "1e99"),
  // From a trusted proxy the header would count (forwarded.test.ts).
  "x-forwarded-host": trustsUs ? fc.constant(undefined) : header("evil.example"),
  "x-request-id": header("a b", "x".repeat(200)),
  traceparent: header("00-0-0-0"),
});

/** Makes a member that is right most of the time and odd now and then. */
const mostly = <T>(right: fc.Arbitrary<T>, ...odd: fc.Arbitrary<unknown>[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: right }, { weight: 1, arbitrary: fc.oneof(...odd, fc.jsonValue()) });
const texts = fc.string({ maxLength: 20 });

const status = fc.record(
  {
    execution: mostly(fc.constantFrom("proceeding", "download", "downloaded", "resumed", "rejected", "closed"), words, numbers),
    result: mostly(fc.record({ finished: mostly(fc.constantFrom("none", "success", "failure"), words), progress: fc.jsonValue() })),
    code: mostly(fc.nat(1_000), numbers, words),
    details: mostly(fc.array(texts, { maxLength: 3 }), fc.array(words, { maxLength: 60 }), words),
  },
  { requiredKeys: ["execution", "result"] },
);
const feedback = fc.record({ id: mostly(fc.nat(), words), status: mostly(status), timestamp: mostly(fc.nat(), words) });
const data = fc.dictionary(words, fc.oneof(words, numbers, fc.constant(null)), { maxKeys: 120 });
const attributes = fc.record({
  mode: mostly(fc.constantFrom("merge", "replace", "remove", null), words),
  data: mostly(fc.dictionary(fc.constantFrom("a", "b", "c"), texts), data),
});
const details = mostly(fc.array(texts, { maxLength: 3 }));
const answer = fc.record({
  confirmation: mostly(fc.constantFrom("confirmed", "denied"), words),
  code: mostly(fc.nat(100), words),
  details,
});
const bodiesOf: Record<string, fc.Arbitrary<unknown>> = {
  "device.deploymentFeedback": feedback,
  "device.cancelFeedback": feedback,
  "device.configData": attributes,
  "device.confirmationFeedback": answer,
  "device.runningVersion": fc.record({ name: mostly(texts, words, numbers), version: mostly(texts, words, fc.constant(null)) }),
  "device.activateAutoConfirm": fc.record({ initiator: mostly(texts, words), remark: mostly(texts, words) }),
};
const bytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array));
// These are endless, or have a length that no body has, a key twice, or keys and values that JSON does not know.
const oddCbor = "bf6161 9f01 9bffffffffffffffff 5b7fffffffffffffff a2616101616102 a10102 c249010000000000000000 f97e00".split(" ");

/** Makes a body that fits the route, or any other, in one of the two forms and sometimes in neither. */
function bodyOf({ id }: Route) {
  const fitting = bodiesOf[id];
  const anything = fc.jsonValue({ maxDepth: 6 });
  const value = fitting === undefined ? anything : fc.oneof({ weight: 9, arbitrary: fitting }, { weight: 1, arbitrary: anything });
  const inCbor = value.map((one) => Buffer.from(encode(one)));
  const json = fc.oneof({ weight: 8, arbitrary: value.map((one) => JSON.stringify(one)) }, bytes, fc.constantFrom("{", "[".repeat(9_999)));
  const cbor = fc.oneof(
    { weight: 8, arbitrary: inCbor },
    // This body ends too early and then continues differently.
    fc.tuple(inCbor, fc.nat(), bytes).map(([whole, at, more]) => Buffer.concat([whole.subarray(0, at % (whole.length + 1)), more])),
    bytes,
    fc.constantFrom(...oddCbor.map((hex) => Buffer.from(hex, "hex")), Buffer.alloc(9_999, 0x81)),
  );
  const named = (type: string, sent: fc.Arbitrary<string | Buffer>) => fc.record({ type: fc.constant(type), sent });
  return fc.option(fc.oneof(named("application/json", json), named("application/cbor", cbor)), { nil: undefined, freq: 8 });
}

const requests = fc.constantFrom(...deviceRoutes).chain((route) =>
  fc.record({
    route: fc.constant(route),
    method: fc.oneof(
      { weight: 12, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH") },
    ),
    choices: fc.array(choice, { minLength: 5, maxLength: 5 }),
    query: fc.dictionary(fc.constantFrom("actionHistory", "c", "x"), fc.oneof(words, numbers), { maxKeys: 3 }),
    headers,
    body: bodyOf(route),
    /** True if the body goes with its right media type and not with the one in the headers. */
    rightlyNamed: fc.oneof({ weight: 6, arbitrary: fc.constant(true) }, fc.constant(false)),
    signedIn: fc.oneof({ weight: 19, arbitrary: fc.constant(true) }, fc.constant(false)),
  }),
);
type Request = typeof requests extends fc.Arbitrary<infer T> ? T : never;

function pathOf(route: Route, { choices, query }: Request): string {
  let place = 0;
  const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) => {
    const chosen = choices[place++ % choices.length];
    // The tenant is always right, or the gateway would deny nearly all requests.
    if (chosen === undefined || (name === "tenant" && chosen.kind === "other")) return valid(name, "mine");
    return chosen.kind === "odd" ? chosen.text : valid(name, chosen.kind);
  });
  const search = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(String(value).toWellFormed())}`);
  return path + (search.length === 0 ? "" : `?${search.join("&")}`);
}

function headersOf({ headers: given, body: content, rightlyNamed, signedIn }: Request): Headers {
  const named = content !== undefined && rightlyNamed ? { ...given, "content-type": content.type } : given;
  const present = Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { ...Object.fromEntries(present), ...(signedIn ? { authorization: own.auth } : {}) };
}

beforeAll(async () => {
  [own, other] = [await makeDevice(), await makeDevice()];
});

it(`${runs} arbitrary requests`, { timeout: 180_000 }, async () => {
  const others = await stateOf(other);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      if (++run % runsPerAction === 0) own.work = [await assignTo(own.controllerId), own.work[0]];
      const before = await stateOf(own);
      const method = request.method ?? request.route.method;
      const answer = await send(pathOf(request.route, request), {
        method,
        headers: headersOf(request),
        body: method === "GET" || method === "HEAD" ? undefined : request.body?.sent,
      });
      expect(statuses).toContain(answer.status);
      if (answer.status >= 400) expect(await stateOf(own)).toEqual(before);
    }),
    { numRuns: runs, interruptAfterTimeLimit: 120_000 },
  );
  expect(await stateOf(other)).toEqual(others);
});

it.each(deviceRoutes.filter(({ body: takes }) => takes !== undefined).map((route) => [route.id, route] as const))(
  "%s with a body of 10 MB is refused unread",
  async (_id, route) => {
    const before = await stateOf(own);
    const path = route.path.replaceAll(/:(\w+)/g, (_all, name: string) => valid(name, "mine"));
    const huge = `{"status":{"details":["${"x".repeat(10_000_000)}"]}}`;
    const sent = send(path, { method: route.method, headers: { authorization: own.auth, "content-type": "application/json" }, body: huge });
    // A connection that is cut while the body is still being sent counts as a denial as well.
    const refused = await sent.then(({ status: answered }) => answered).catch((error: { code?: string }) => error.code);
    expect([413, "UND_ERR_SOCKET", "EPIPE", "ECONNRESET"]).toContain(refused);
    expect(await stateOf(own)).toEqual(before);
  },
);
