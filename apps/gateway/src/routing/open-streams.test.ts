import type { ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";
import { expect, test } from "vitest";
import { OpenStreams, streamsOfUser } from "./open-streams.ts";

const user = (subject: string, more: Partial<Principal> = {}): Principal => ({
  tenantId: 1,
  tenant: "T",
  kind: "user",
  subject,
  permissions: [],
  ...more,
});
const answer = () => {
  const ended = { value: false };
  const res = {
    destroy() {
      ended.value = true;
    },
  };
  return { res: res as unknown as ServerResponse, ended };
};

test.each<[string, { tenantId: number; userId: number }, string[]]>([
  ["a user", { tenantId: 1, userId: 7 }, ["ada", "external"]],
  ["everybody of a tenant", { tenantId: 1, userId: 0 }, ["ada", "bob", "external"]],
  ["a user of another tenant", { tenantId: 2, userId: 7 }, ["other"]],
])("a change of %s ends the streams of those alone, and of whom only an issuer knows", (_who, change, expected) => {
  const streams = new OpenStreams();
  const of = {
    ada: user("ada", { userId: 7 }),
    bob: user("bob", { userId: 8 }),
    external: user("ada", { issuer: "https://id.example" }),
    other: user("ada", { tenantId: 2, userId: 7 }),
  };
  const answers = Object.entries(of).map(([name, principal]) => {
    const one = answer();
    streams.begin(principal, one.res);
    return [name, one.ended] as const;
  });
  streams.end(change);
  expect(answers.filter(([, ended]) => ended.value).map(([name]) => name)).toEqual(expected);
  streams.endAll();
  expect(answers.every(([, ended]) => ended.value)).toBe(true);
});

test("one user has so many streams, whatever others have; one that is over makes room", () => {
  const streams = new OpenStreams();
  const ada = user("ada", { userId: 7 });
  const leave = Array.from({ length: streamsOfUser }, () => streams.begin(ada, answer().res));
  const tooMany = expect.objectContaining({ code: "tooManyRequests" });
  expect(() => streams.begin(ada, answer().res)).toThrow(tooMany);
  expect(() => streams.begin(ada, answer().res)).toThrow(HarrierError);
  const others = [streams.begin(user("bob"), answer().res), streams.begin(user("ada", { issuer: "https://id.example" }), answer().res)];
  leave.pop()?.();
  leave.push(streams.begin(ada, answer().res));
  expect(streams.isEmpty()).toBe(false);
  for (const one of [...leave, ...others]) one();
  expect(streams.isEmpty()).toBe(true);
});
