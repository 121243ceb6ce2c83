import { arrayBody, ok, route } from "@harrier/contracts";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { ask, type Served, serve, user } from "../test-support/serve.ts";
import type { UnknownMembers } from "./unknown-members.ts";

const things = route({
  id: "things.create",
  service: "controller",
  interface: "management",
  method: "POST",
  path: "/things",
  body: arrayBody(z.object({ name: z.string().min(1), more: z.object({ a: z.number() }).optional() })),
  success: ok,
  response: z.array(z.object({ name: z.string(), shown: z.string().optional() })),
  permission: ["READ_TARGET"],
  errors: [],
  summary: "",
  source: "",
});
const device = route({
  id: "device.thing",
  service: "controller",
  interface: "device",
  method: "POST",
  path: "/:tenant/controller/v1/:controllerId/thing",
  body: z.object({ name: z.string() }),
  success: { device: 200 },
  permission: [],
  errors: [],
  summary: "",
  source: "",
});

let served: Served;
let handled = 0;
const begin = async (unknownMembers?: UnknownMembers) => {
  handled = 0;
  served = await serve(
    (mount) => {
      mount(things, (ctx) => {
        handled += 1;
        return { body: ctx.body };
      });
      mount(device, () => undefined);
    },
    unknownMembers === undefined ? {} : { unknownMembers },
  );
};
afterEach(() => served.http.close(0));

const send = async (body: unknown, path = "/rest/v1/things") => {
  const headers = { "content-type": "application/json" };
  return ask(served, path, { method: "POST", body: JSON.stringify(body), headers, identity: user("READ_TARGET") });
};

it("a body with unknown members is processed, and a warning names them", async () => {
  await begin();
  const answer = await send([{ name: "a", nme: 1, more: { a: 1, b: 2 } }]);
  expect([answer.status, answer.headers["warning"]]).toEqual([200, '299 - "Unknown members were ignored: nme, more.b"']);
  expect(answer.json).toEqual([{ name: "a", more: { a: 1 } }]);
  for (const known of [[{ name: "a", more: { a: 1 } }], { name: "a", shown: "x", nothing: null }])
    expect((await send(known)).headers["warning"]).toBeUndefined();
});

it("a warning is short and printable, whatever the names are", async () => {
  await begin();
  const odd = { name: "a", 'q"\\\r\nset-cookie: x': 1, ünknown: 1, "\u0000": 1 };
  expect((await send([odd])).headers["warning"]).toBe('299 - "Unknown members were ignored: q????set-cookie: x, ?nknown, ?"');
  const many = Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`${n}-${"x".repeat(200)}`, 1]));
  const { warning } = (await send([{ name: "a", ...many }])).headers;
  expect(warning).toMatch(/ and others"$/);
  expect(String(warning).length).toBeLessThan(800);
});

it("a body that is refused anyway keeps its own error", async () => {
  await begin("refuse");
  const answer = await send([{ name: "", nme: 1 }]);
  expect([answer.status, (answer.json as { message: string }).message]).toEqual([400, expect.not.stringContaining("nme")]);
});

it("with `refuse`, unknown members are 400 before anything is done", async () => {
  await begin("refuse");
  const answer = await send([{ name: "a", nme: 1 }]);
  expect(answer.status).toBe(400);
  expect(answer.json).toMatchObject({ errorCode: "hawkbit.server.error.repo.constraintViolation", message: "Unknown members: nme." });
  expect(handled).toBe(0);
  expect((await send([{ name: "a" }])).status).toBe(200);
});

it("with `ignore`, there is no warning", async () => {
  await begin("ignore");
  const answer = await send([{ name: "a", nme: 1 }]);
  expect([answer.status, answer.headers["warning"]]).toEqual([200, undefined]);
});

it("devices may send what they like", async () => {
  await begin("refuse");
  const path = "/DEFAULT/controller/v1/d1/thing";
  const headers = { "content-type": "application/json" };
  const answer = await ask(served, path, { method: "POST", body: '{"name":"a","nme":1}', headers });
  expect([answer.status, answer.headers["warning"]]).toEqual([200, undefined]);
});
