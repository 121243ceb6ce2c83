import { type Example, isConfidential, oauthPaths, type Route, routes, type Surface } from "@harrier/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CallOptions, call, dialects, succeeded } from "../support/call.ts";
import { publishedFor } from "../support/document.ts";
import { exampleOf, writeExamples } from "../support/examples.ts";
import type { Answer } from "../support/http.ts";
import { oauth2ClientBuilder } from "../support/oauth2-clients.ts";
import { createFixture, type Fixture } from "../support/tenant.fixture.ts";
import { openPage, tokenAnswer } from "../support/tokens.ts";
import { routesOn, type ValidRequest, validRequests } from "../support/walk.ts";

/** The documents show these requests and answers as examples; `HARRIER_TEST_EXAMPLES=write` stores those of this run. */
const seen = new Map<string, Partial<Record<Surface, Example>>>();
const see = (id: string, surface: Surface, example: Example) => seen.set(id, { ...seen.get(id), [surface]: example });
afterAll(() => {
  if (process.env["HARRIER_TEST_EXAMPLES"] === "write") writeExamples(seen);
});

/** Checks that request and answer match the published document of their interface. */
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

/** Returns the body as it was sent, or the example's description of it for bytes and forms. */
const sentBy = ({ body }: CallOptions, shown: unknown) => (typeof body === "object" && !Buffer.isBuffer(body) ? body : shown);

/** This is the positive control: each route of the table succeeds on existing data. */
describe.each(dialects)("every route, %s", (dialect) => {
  let fixture: Fixture;
  let requests: Record<string, ValidRequest>;
  beforeAll(async () => {
    fixture = await createFixture(dialect, "action.cleanup.onQuotaHit.percent");
    requests = validRequests(fixture);
  });

  it("every route has a valid request here", () => {
    expect(Object.keys(requests).sort()).toEqual(routes.map(({ id }) => id).sort());
  });

  it.each(routesOn(dialect))("%s answers a success as the table says", async (id, route, surface) => {
    const options = await (requests[id] as ValidRequest)();
    const answer = await call<unknown>(route, surface, options);
    const { status, text, headers } = answer;
    expect(status).toBe(route.success[surface]);
    checkDocumented(route, surface, options, answer);
    // An answer with a credential must not be kept by any cache on the way.
    if (isConfidential(route) && text !== "") expect(headers["cache-control"]).toBe("no-store");
    if (/"(securityToken|apiKey|clientSecret|password)":/.test(text)) expect(headers["cache-control"]).toBe("no-store");
    // An empty list would not show that the route works.
    if (route.method === "GET") expect(text).not.toMatch(/^$|"total":0/);
  });
});

it("every route has been answered with a success", () => {
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
