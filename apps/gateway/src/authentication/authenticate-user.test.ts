import { HarrierError } from "@harrier/errors";
import type { SignInRequestInput, SignInResponse } from "@harrier/rpc";
import { beforeEach, expect, test } from "vitest";
import { AddressList } from "../client/address-list.ts";
import { SignInFailures } from "../limits/sign-in-failures.ts";
import { SignInLimiter } from "../limits/sign-in-limiter.ts";
import { authenticateUser } from "./authenticate-user.ts";
import { PrincipalCache } from "./principal-cache.ts";

let now: number;
let requested: string[];
let answer: (username: string) => Promise<void>;
let cache: PrincipalCache;
let deps: Parameters<typeof authenticateUser>[0];

beforeEach(() => {
  now = 0;
  requested = [];
  answer = async () => {};
  cache = new PrincipalCache({ ttlSeconds: 300 });
  cache.streamAlive();
  const limits = { account: 3, user: 50, address: 20, deviceAddress: 0 };
  deps = {
    tokens: { verify: () => Promise.reject(new HarrierError("unauthenticated")) },
    own: { verify: () => undefined },
    signInClient: () => Promise.reject(new HarrierError("unauthenticated")),
    resolveToken: () => Promise.reject(new HarrierError("unauthenticated")),
    cache,
    sessions: { authenticate: () => Promise.reject(new HarrierError("unauthenticated")) },
    async signIn({ username = "", password }: SignInRequestInput): Promise<SignInResponse> {
      requested.push(username);
      await answer(username);
      const ok = password === "right" && !username.startsWith("nobody");
      return {
        ok,
        tenantId: 1,
        tenant: "DEFAULT",
        subject: username,
        permissions: [],
        revision: 1,
        userId: 5,
        targetTypeScopes: {},
        generation: 0,
      };
    },
    failures: new SignInFailures({ limits, exempt: new AddressList("none"), now: () => now }),
    limiter: new SignInLimiter({ concurrency: 2, waiting: 3 }),
    now: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
});

const signIn = async (username: string, password: string, address = "203.0.113.7") => {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  return authenticateUser(deps, { client: { address, hidden: false }, authorization, rid: "r", deadline: 0 });
};
const outcome = (username: string, password: string, address?: string) =>
  signIn(username, password, address).then(
    () => "in",
    (error: HarrierError) => error.code,
  );

test("failed sign-ins take the same time for known and unknown users, and after some of them no more are verified", async () => {
  for (const name of ["ada", "nobody"]) {
    const answers = [];
    for (const took of [40, 70, 240]) {
      const began = now;
      answer = async () => {
        now += took;
      };
      answers.push([await outcome(name, `wrong${took}`), now - began]);
    }
    expect(answers).toEqual(Array.from({ length: 3 }, () => ["unauthenticated", 250]));
    expect(await outcome(name, "right")).toBe("tooManyRequests");
  }
  expect(requested).toEqual(["ada", "ada", "ada", "nobody", "nobody", "nobody"]);
  expect(await outcome("eve", "right")).toBe("in");
  now += 60_000;
  expect(await outcome("ada", "right")).toBe("in");
});

test("failed sign-ins of others lock no user out: neither from a known address nor with a verified credential", async () => {
  expect(await outcome("ada", "right")).toBe("in");
  for (let n = 0; n < 3; n++) await outcome("ada", `wrong${n}`);
  expect(await outcome("ada", "wrong")).toBe("tooManyRequests");
  expect(await outcome("ada", "right")).toBe("in");
  expect(requested).toHaveLength(4);
  cache.streamSilent();
  expect(await outcome("ada", "right")).toBe("in");
  expect(await outcome("ada", "right", "198.51.100.1")).toBe("in");
});

test("a password that its owner has used is a guess from another address: after some wrong ones the right one is not let through", async () => {
  expect(await outcome("ada", "right", "198.51.100.1")).toBe("in");
  for (let n = 0; n < 3; n++) await outcome("ada", `wrong${n}`, "203.0.113.9");
  cache.streamSilent(); // what is cached never comes to the limits
  expect(await outcome("ada", "right", "203.0.113.9")).toBe("tooManyRequests");
  expect(await outcome("ada", "right", "198.51.100.1")).toBe("in");
});

test("the tenant of a name counts in any spelling, its user does not", async () => {
  for (const name of ["default\\ada", "DEFAULT\\ada", "Default\\ada"]) await outcome(name, `wrong ${name}`);
  expect(await outcome("dEFAULT\\ada", "right")).toBe("tooManyRequests");
  expect(await outcome("default\\Ada", "right")).toBe("in");
});

test("concurrent sign-ins with the same password are verified once; another one waits, and too many are denied", async () => {
  expect(await Promise.all(Array.from({ length: 50 }, () => outcome("ada", "right")))).toEqual(Array.from({ length: 50 }, () => "in"));
  expect(requested).toEqual(["ada"]);
  const many = await Promise.all(Array.from({ length: 8 }, (_, n) => outcome(`user${n}`, "right")));
  expect(many).toEqual([...Array.from({ length: 5 }, () => "in"), "tooManyRequests", "tooManyRequests", "tooManyRequests"]);
  // They do not count as failures.
  expect(await outcome("user7", "right")).toBe("in");
});

test("if management cannot be asked, nothing counts as a failure", async () => {
  answer = () => Promise.reject(new HarrierError("unavailable"));
  for (let n = 0; n < 30; n++) expect(await outcome("ada", `right${n}`)).toBe("unavailable");
  answer = async () => {};
  expect(await outcome("ada", "right")).toBe("in");
});

test("spellings of a tenant that only the database treats as equal share one counter of failures", async () => {
  for (const username of ["KILO\\ann", "\u212ailo\\ann", "k\u0130lo\\ann"])
    expect(await outcome(username, "wrong")).toBe("unauthenticated");
  expect(await outcome("kilo\\ann", "wrong")).toBe("tooManyRequests");
});
