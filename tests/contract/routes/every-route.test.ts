import { type Example, isConfidential, oauthPaths, type Route, routes, type Surface } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallOptions, call, dialects, succeeded } from "../support/call.ts";
import { publishedFor } from "../support/document.ts";
import { exampleOf, writeExamples } from "../support/examples.ts";
import type { Answer } from "../support/http.ts";
import { oauth2ClientBuilder } from "../support/oauth2-clients.ts";
import { openPage, tokenAnswer } from "../support/tokens.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";
import { createWorld, type World } from "../support/world.ts";

/** The examples of the documents are what is seen here; `HARRIER_TEST_EXAMPLES=write` keeps what this run sees. */
const seen = new Map<string, Partial<Record<Surface, Example>>>();
const see = (id: string, surface: Surface, example: Example) => seen.set(id, { ...seen.get(id), [surface]: example });
afterAll(() => {
  if (process.env["HARRIER_TEST_EXAMPLES"] === "write") writeExamples(seen);
});

/** Request and answer are as the published document of their interface says. */
function checkDocumented(route: Route, surface: Surface, options: CallOptions, answer: Answer): void {
  const example = exampleOf(route, options, answer);
  const { faultsOf } = publishedFor(surface);
  const { type, body } = example.request;
  if (type !== undefined) expect(faultsOf({ id: route.id, type }, sentBy(options, body)), `request of ${route.id}`).toEqual([]);
  const { status } = answer;
  if (example.answer.type !== undefined) {
    const served = answer.json ?? answer.text;
    expect(faultsOf({ id: route.id, status, type: example.answer.type }, served), `answer of ${route.id}`).toEqual([]);
  } else expect(publishedFor(surface).statusesOf(route.id), route.id).toContain(String(status));
  see(route.id, surface, example);
}

/** What was sent, as it was; of bytes and forms what the example says of them. */
const sentBy = ({ body }: CallOptions, shown: unknown) => (typeof body === "object" && !Buffer.isBuffer(body) ? body : shown);

/** The positive control: each route of the table does its work, on data that is there. */
describe.each(dialects)("every route, %s", (dialect) => {
  let world: World;
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    world = await createWorld(dialect, "action.cleanup.onQuotaHit.percent");
    requests = validRequests(world);
  });

  it("has a request here", () => {
    expect(Object.keys(requests).sort()).toEqual(routes.map(({ id }) => id).sort());
  });

  it.each(routesOn(dialect))("%s answers a success as the table says", async (id, route, surface) => {
    const options = await (requests[id] as ValidRequest)();
    const answer = await call<unknown>(route, surface, options);
    const { status, text, headers } = answer;
    expect(status).toBe(route.success[surface]);
    checkDocumented(route, surface, options, answer);
    // what lets somebody in is kept by no cache on the way
    if (isConfidential(route) && text !== "") expect(headers["cache-control"]).toBe("no-store");
    if (/"(securityToken|apiKey|clientSecret|password)":/.test(text)) expect(headers["cache-control"]).toBe("no-store");
    // nothing that holds for an empty answer only
    if (route.method === "GET") expect(text).not.toMatch(/^$|"total":0/);
  });
});

it("all of them have been answered with a success", () => {
  expect([...succeeded].sort()).toEqual(routes.map(({ id }) => id).sort());
});

it("the token endpoint and its pages answer as the document says", async () => {
  const { faultsOf } = publishedFor("spec");
  const client = await oauth2ClientBuilder("spec").create();
  const form = { grant_type: "client_credentials" };
  const pages = {
    "oauth2.token": {
      options: { body: form, headers: { "content-type": "application/x-www-form-urlencoded" } },
      answer: await tokenAnswer(client),
    },
    "oauth2.jwks": { options: {}, answer: await openPage(oauthPaths.jwks) },
    "oauth2.discovery": { options: {}, answer: await openPage(oauthPaths.discovery) },
  };
  for (const [id, { options, answer }] of Object.entries(pages)) {
    expect(answer.status).toBe(200);
    expect(faultsOf({ id, status: 200, type: "application/json" }, answer.json), id).toEqual([]);
    const shown = { ...answer, bytes: Buffer.from(answer.text), headers: { "content-type": "application/json" } };
    see(id, "spec", exampleOf({}, options, shown));
  }
});
