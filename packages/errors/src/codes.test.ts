import { describe, expect, it } from "vitest";
import { codes, type ErrorCode, isErrorCode } from "./codes.ts";
import { entityNotFound, errorBody, HarrierError, httpStatus, toHarrierError } from "./harrier-error.ts";
import { violationsInfo } from "./violations.ts";

const rows = Object.entries(codes) as [ErrorCode, (typeof codes)[ErrorCode]][];

describe("the error table", () => {
  it.each(rows)("%s has a status on every surface, a gRPC status and a text", (_code, row) => {
    for (const surface of ["device", "spec", "rest"] as const) {
      expect(row.status[surface]).toBeGreaterThanOrEqual(400);
      expect(row.status[surface]).toBeLessThan(600);
    }
    expect(row.grpc).toBeGreaterThanOrEqual(1);
    expect(row.grpc).toBeLessThanOrEqual(16);
    expect(row.message).not.toBe("");
  });

  it.each(rows.filter(([, row]) => row.hawkbit !== ""))("%s names an exception class beside its errorCode", (_code, row) => {
    expect(row.exceptionClass).toMatch(/^[a-z.]+\.[A-Z]\w+$/);
  });

  it("answers quotas by dialect", () => {
    expect(codes.quotaTooManyEntries.status).toEqual({ device: 403, spec: 403, rest: 429 });
    expect(codes.fileSizeExceeded.status.rest).toBe(429);
    expect(codes.storageExceeded.status.spec).toBe(403);
  });

  it.each([
    ["entityNotFound", 404],
    ["entityAlreadyExists", 409],
    ["entityReadOnly", 403],
    ["locked", 423],
    ["actionNotCancelable", 405],
    ["actionNotDeletable", 405],
    ["actionNotProving", 409],
    ["actionNotRetryable", 409],
    ["actionClosed", 410],
    ["constraintViolation", 400],
    ["targetTypeUsed", 409],
    ["configChangeNotAllowed", 403],
    ["artifactBinaryDeleted", 410],
    ["eventCursorExpired", 410],
    ["artifactUploadFailed", 500],
    ["storageFull", 507],
    ["multipartInvalid", 400],
    ["uploadOffset", 409],
    ["rolloutIllegalState", 400],
    ["stopRolloutFailed", 423],
  ] as const)("answers %s with %i everywhere", (code, status) => {
    expect(Object.values(codes[code].status)).toEqual([status, status, status]);
  });

  it("knows its own codes only", () => {
    expect(isErrorCode("locked")).toBe(true);
    expect(isErrorCode("toString")).toBe(false);
    expect(isErrorCode(7)).toBe(false);
  });
});

describe("HarrierError", () => {
  it("names what is missing with the message that clients know", () => {
    const error = entityNotFound("Target", "nope");
    expect(httpStatus(error.code, "spec")).toBe(404);
    expect(errorBody(error)).toEqual({
      exceptionClass: "org.eclipse.hawkbit.repository.exception.EntityNotFoundException",
      errorCode: "hawkbit.server.error.repo.entityNotFound",
      message: "Target with given identifier {nope} does not exist.",
      info: { type: "Target", entityId: "nope" },
    });
  });

  it("has exactly three members for an unreadable body", () => {
    expect(errorBody(new HarrierError("bodyNotReadable"))).toEqual({
      exceptionClass: "org.eclipse.hawkbit.rest.exception.MessageNotReadableException",
      errorCode: "hawkbit.server.error.rest.body.notReadable",
      message: "The given request body is not well formed",
    });
  });

  it("leaves out empty members and shows both kinds of details", () => {
    const details = { parameters: ["a"], info: { b: 1 } };
    expect(errorBody(new HarrierError("locked", "no", details))).toMatchObject(details);
    expect(errorBody(new HarrierError("locked", "no", { parameters: [], info: {} }))).not.toHaveProperty("info");
    expect(errorBody(new HarrierError("payloadTooLarge"))).toEqual({ message: "The request body is too large." });
  });

  it("puts violations into info for users and into parameters for devices", () => {
    const info = {
      ...violationsInfo([
        { path: "0.name", problem: "must be a text" },
        { path: "", problem: "is empty" },
      ]),
      more: 1,
    };
    const error = new HarrierError("bodyNotReadable", undefined, { info });
    expect(errorBody(error, "rest")).toMatchObject({ info });
    expect(errorBody(error, "rest")).not.toHaveProperty("parameters");
    expect(errorBody(error, "device")).toMatchObject({ parameters: ["0.name must be a text", "request is empty"], info: { more: 1 } });
  });

  it("limits the size of each violation and of all together", () => {
    const long = { path: "p\u{1f600}".repeat(5_000), problem: "x".repeat(5_000) };
    const { violations } = violationsInfo(Array.from({ length: 500 }, () => long));
    expect(violations.length).toBeGreaterThan(1);
    expect(Buffer.byteLength(JSON.stringify(violations))).toBeLessThan(2_100);
    expect(JSON.stringify(violations)).not.toContain("\ufffd");
    expect(violationsInfo(Array.from({ length: 500 }, () => ({ path: "a", problem: "b" }))).violations).toHaveLength(20);
  });

  it.each(["unauthenticated", "actionClosed", "stateNotFound", "rangeNotSatisfiable"] as const)("answers %s without a body", (code) => {
    expect(errorBody(new HarrierError(code))).toBeUndefined();
  });

  it("never shows the text of a foreign error", () => {
    const cause = new Error("password authentication failed for user harrier");
    const error = toHarrierError(cause);
    expect(error.code).toBe("internal");
    expect(JSON.stringify(errorBody(error))).not.toContain("password");
    expect(error.cause).toBe(cause);
    expect(toHarrierError(error)).toBe(error);
  });
});

describe("a value that a caller sent", () => {
  it.each(["x", "ü", "😀", "\u0000"])("is cut to 2 KiB in an error: %j", (character) => {
    const long = character.repeat(500_000);
    const body = errorBody(entityNotFound("Target", long));
    expect(Buffer.byteLength(body?.message ?? "")).toBeLessThanOrEqual(2_048);
    expect(Buffer.byteLength(String(body?.info?.["entityId"]))).toBeLessThanOrEqual(2_048);
    expect(body?.message).toMatch(/^Target with given identifier \{/);
    expect(body?.message.isWellFormed()).toBe(true);
    expect(body?.message).not.toContain("\ufffd");
  });

  it("is cut to 100 elements if it is a list", () => {
    const ids = Array.from({ length: 5_000 }, (_, n) => n);
    expect(errorBody(entityNotFound("Target", ids))?.info).toEqual({ type: "Target", entityId: ids.slice(0, 100) });
  });

  it("is complete if it is short", () => {
    const text = "ü".repeat(1_000);
    expect(new HarrierError("constraintViolation", text).message).toBe(text);
  });
});
