import { HarrierError } from "@harrier/errors";
import { describe, expect, it } from "vitest";
import { type Identity, identityPath, signIdentity, verifyIdentity } from "./identity.ts";
import { parseKeys } from "./keys.ts";

const secret = (letter: string) => Buffer.from(letter.repeat(32)).toString("base64");
const keys = parseKeys(`controller=k1:${secret("a")};management=k1:${secret("b")}`);
const now = 1_800_000_000_000;
const request = { method: "GET", path: "/DEFAULT/controller/v1/d1", now };
const identity: Identity = {
  tenantId: 1,
  tenant: "DEFAULT",
  kind: "device",
  subject: "d1",
  controllerId: "d1",
  permissions: [],
  rid: "r-1",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  baseUrl: "http://127.0.0.1:8080",
  audience: "controller",
  method: "GET",
  path: "/DEFAULT/controller/v1/d1",
  expiresAt: now + 30_000,
  caller: "gateway",
};

const codeOf = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    return error instanceof HarrierError ? error.code : String(error);
  }
  return "accepted";
};

describe("signed identity", () => {
  it("arrives as it was signed", () => {
    expect(verifyIdentity(keys, "controller", signIdentity(keys, identity), request)).toEqual(identity);
    const user: Identity = {
      ...identity,
      kind: "user",
      external: true,
      permissions: ["READ_TARGET"],
      targetTypeScopes: { READ_TARGET: [11] },
    };
    expect(verifyIdentity(keys, "controller", signIdentity(keys, user), request)).toEqual(user);
  });

  it("leaves absent members absent", () => {
    const { traceparent: _t, controllerId: _c, ...bare } = identity;
    expect(Object.keys(verifyIdentity(keys, "controller", signIdentity(keys, bare), request)).sort()).toEqual(Object.keys(bare).sort());
  });

  it.each([
    ["another method", { ...request, method: "POST" }],
    ["another path", { ...request, path: "/DEFAULT/controller/v1/d2" }],
    ["after its end", { ...request, now: identity.expiresAt }],
    ["a life longer than allowed", { ...request, now: now - 10_000 }],
  ])("is refused for %s", (_name, expected) => {
    expect(codeOf(() => verifyIdentity(keys, "controller", signIdentity(keys, identity), expected))).toBe("unauthenticated");
  });

  it("is refused by another audience, even under its own key", () => {
    const token = signIdentity(keys, identity);
    expect(codeOf(() => verifyIdentity(keys, "management", token, request))).toBe("unauthenticated");
    const shared = parseKeys(`controller=k1:${secret("a")};management=k1:${secret("a")}`);
    expect(codeOf(() => verifyIdentity(shared, "management", token, request))).toBe("unauthenticated");
  });

  it("is refused when any part of it was changed", () => {
    const token = signIdentity(keys, identity);
    const [version, kid, payload = "", signature = ""] = token.split(".");
    const forged = Buffer.from(Buffer.from(payload, "base64url").toString().replace('"t":1', '"t":2')).toString("base64url");
    for (const bad of [
      undefined,
      "",
      "v1",
      "...",
      `${version}.${kid}.${forged}.${signature}`,
      `${version}.k9.${payload}.${signature}`,
      `v1.${kid}.${payload}.${signature}`,
      `${version}.${kid}.${payload}.`,
      `${version}.${kid}.${payload}.${"A".repeat(43)}`,
      `${token}A`,
    ]) {
      expect(codeOf(() => verifyIdentity(keys, "controller", bad, request))).toBe("unauthenticated");
    }
  });

  it("never tells the caller what was wrong", () => {
    const messages = [undefined, "v2.k1.x.y"].map((token) => {
      try {
        verifyIdentity(keys, "controller", token, request);
      } catch (error) {
        return (error as HarrierError).message;
      }
      return "accepted";
    });
    expect(new Set(messages).size).toBe(1);
  });

  it("survives a rotation: old and new key are accepted, the first one signs", () => {
    const oldKeys = parseKeys(`controller=k1:${secret("a")}`);
    const both = parseKeys(`controller=k1:${secret("a")},k2:${secret("c")}`);
    const turned = parseKeys(`controller=k2:${secret("c")},k1:${secret("a")}`);
    const newKeys = parseKeys(`controller=k2:${secret("c")}`);
    const ok = (signer: typeof keys, verifier: typeof keys) =>
      codeOf(() => verifyIdentity(verifier, "controller", signIdentity(signer, identity), request)) === "accepted";
    expect([ok(oldKeys, both), ok(both, oldKeys), ok(turned, both), ok(both, turned), ok(newKeys, turned)]).toEqual(Array(5).fill(true));
    expect([ok(turned, oldKeys), ok(oldKeys, newKeys)]).toEqual([false, false]);
    expect(signIdentity(turned, identity)).toMatch(/^v2\.k2\./);
  });

  it("is bound to the path without the query", () => {
    expect(identityPath("/a/b?c=1")).toBe("/a/b");
    expect(identityPath("/a%20b")).toBe("/a%20b");
  });
});

describe("identity keys", () => {
  it.each([
    ["", "no key"],
    ["kitchen=k1:abc", "not a service"],
    [`controller=k1:${Buffer.from("short").toString("base64")}`, "shorter than 32 bytes"],
    [`controller=${secret("a")}`, "no id"],
    [`controller=k1:${secret("a")},k1:${secret("b")}`, 'two keys "k1"'],
    [`controller=k1:${secret("a")};controller=k2:${secret("a")}`, "given twice"],
  ])("refuses %j", (text, reason) => {
    expect(() => parseKeys(text)).toThrow(reason);
  });
});
