import { routeTable as r, readExamples, type Surface } from "@harrier/contracts";
import { describe, expect, it } from "vitest";
import { exampleAddress } from "../support/clean.ts";
import { publishedFor } from "../support/document.ts";
import { send } from "../support/http.ts";

// Clients are generated from these documents; the tests check them, their examples, and where they are served.

const surfaces: readonly Surface[] = ["spec", "rest", "device"];
const examples = readExamples();

describe.each(surfaces)("the document of %s", (surface) => {
  const { document, faultsOf, statusesOf } = publishedFor(surface);
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));

  it.each(operations.map(({ operationId }) => operationId))("%s has an example that fits", (id) => {
    const example = examples[id]?.[surface];
    if (example === undefined) throw new Error("there is none");
    const { request, answer } = example;
    if (request.type !== undefined) expect(faultsOf({ id, type: request.type }, request.body)).toEqual([]);
    expect(statusesOf(id)).toContain(String(answer.status));
    if (answer.type !== undefined) expect(faultsOf({ id, status: answer.status, type: answer.type }, answer.body)).toEqual([]);
    const required = operations.find((one) => one.operationId === id)?.parameters?.filter((parameter) => parameter.required) ?? [];
    for (const { name, example: shown } of required) expect(shown, name).toBeDefined();
  });

  it("the examples hold nothing specific to the run that made them", () => {
    const shown = JSON.stringify(examples);
    for (const trace of [/127\.0\.0\.1/, /localhost/, /:\d{4,5}\//, /[0-9a-f]{14}x/, /"oc[sk]?_(?!example)/, /eyJ[\w-]{20}/]) {
      expect(shown.match(trace)?.[0]).toBeUndefined();
    }
    // Every moment is one of the first hours of 2026.
    for (const [moment] of shown.matchAll(/\b1[6-9]\d{11}\b/g)) expect(moment).toMatch(/^17672[23]/);
  });

  it("it is served as it is published", async () => {
    const name = { spec: "mgmt", rest: "rest", device: "device" }[surface];
    const { status, json } = await send(`/api/docs/openapi-${name}.json`, { shownAs: exampleAddress });
    expect(status).toBe(200);
    expect(json).toEqual(document);
  });
});

it("the address of the former single document serves that of management", async () => {
  const { status, json } = await send("/api/docs/openapi.json", { shownAs: exampleAddress });
  expect([status, json]).toEqual([200, publishedFor("spec").document]);
});

it("every example belongs to an operation", () => {
  const ids = new Set(
    surfaces.flatMap((surface) =>
      Object.values(publishedFor(surface).document.paths).flatMap((item) => Object.values(item).map((one) => one.operationId)),
    ),
  );
  expect(Object.keys(examples).filter((id) => !ids.has(id))).toEqual([]);
  expect(ids.has(r.targets.list.id)).toBe(true);
});
