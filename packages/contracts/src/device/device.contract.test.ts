import { describe, expect, it } from "vitest";
import type { z } from "zod";
import { targets } from "../management/targets.contract.ts";
import { parseWith } from "../parse.ts";
import type { Route } from "../route.ts";
import { device } from "./device.contract.ts";

const poll = (controllerId: string) => paramsOf(device.poll, { tenant: "DEFAULT", controllerId });
const confirmationBase = (controllerId: string) => paramsOf(device.confirmationBase, { tenant: "DEFAULT", controllerId });
const create = (controllerId: string) => read(targets.create.body, [{ controllerId }], "body");

function paramsOf(route: Route, params: Record<string, string>): unknown {
  return read(route.params, params, "params");
}

function read(schema: z.ZodType | undefined, value: unknown, where: "params" | "body"): unknown {
  if (schema === undefined) throw new Error("the route reads none");
  return parseWith(schema, value, where);
}

describe("the id of a new target", () => {
  it.each(["a/b", "a\\b", ".", "..", "a b", "a\u0000b", "a\u001fb", "a\u007fb", "a\u0085b", "x".repeat(257), "\ud800", ""])(
    "is never %j, by poll, confirmation or creation",
    (id) => {
      for (const way of [poll, confirmationBase, create]) {
        expect(() => way(id)).toThrow(expect.objectContaining({ code: "constraintViolation" }));
      }
    },
  );

  it.each(["a%b", "%25", "a;b", "a:b@c+d=e,f", "größe", "日本", "...", ".a", "x".repeat(256)])("may be %j", (controllerId) => {
    expect(poll(controllerId)).toEqual({ tenant: "DEFAULT", controllerId });
    expect(create(controllerId)).toEqual([{ controllerId }]);
  });

  it.each(["a/b", "..", "a\u0085b"])("may be %j if the target exists already", (targetId) => {
    for (const route of [targets.get, targets.delete]) expect(paramsOf(route, { targetId })).toEqual({ targetId });
  });
});
