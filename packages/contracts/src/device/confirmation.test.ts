import { describe, expect, it } from "vitest";
import { parseWith } from "../parse.ts";
import { autoConfirmBody, confirmationBody } from "./confirmation.ts";
import { runningVersionBody } from "./running-version.ts";

const unreadable = expect.objectContaining({ code: "bodyNotReadable" });
const violation = expect.objectContaining({ code: "constraintViolation" });

describe("confirmation feedback", () => {
  it("reads an answer with or without further members", () => {
    expect(parseWith(confirmationBody, { confirmation: "confirmed" }, "body")).toEqual({ confirmation: "confirmed", details: [] });
    const body = { confirmation: "denied", code: "-3", details: "why", other: {} };
    expect(parseWith(confirmationBody, body, "body")).toEqual({ confirmation: "denied", code: -3, details: ["why"] });
  });

  it.each([undefined, {}, { confirmation: null }, { confirmation: "Confirmed" }, { confirmation: "denied", details: [{}] }, "confirmed"])(
    "refuses %j",
    (body) => {
      expect(() => parseWith(confirmationBody, body, "body")).toThrow(unreadable);
    },
  );
});

describe("activation of automatic confirmation", () => {
  it("reads the members that are given, and accepts an empty body", () => {
    expect(parseWith(autoConfirmBody, { initiator: "me", remark: "why" }, "body")).toEqual({ initiator: "me", remark: "why" });
    expect(parseWith(autoConfirmBody, { initiator: "", remark: null }, "body")).toEqual({});
    expect(parseWith(autoConfirmBody, { initiator: 5 }, "body")).toEqual({ initiator: "5" });
    expect(parseWith(autoConfirmBody, undefined, "body")).toBeUndefined();
  });

  it("has limits", () => {
    const maxLength = { initiator: "x".repeat(64), remark: "x".repeat(512) };
    expect(parseWith(autoConfirmBody, maxLength, "body")).toEqual(maxLength);
    for (const body of [{ initiator: `${maxLength.initiator}x` }, { remark: `${maxLength.remark}x` }, { remark: "a\u0000b" }]) {
      expect(() => parseWith(autoConfirmBody, body, "body")).toThrow(violation);
    }
  });

  it.each([null, [], "x", 5, { initiator: {} }])("refuses %j", (body) => {
    expect(() => parseWith(autoConfirmBody, body, "body")).toThrow(unreadable);
  });
});

describe("running version", () => {
  it("reads name and version", () => {
    expect(parseWith(runningVersionBody, { name: "set", version: 2, more: 1 }, "body")).toEqual({ name: "set", version: "2" });
  });

  it("distinguishes null from absent", () => {
    expect(() => parseWith(runningVersionBody, { name: null, version: "1" }, "body")).toThrow(violation);
    expect(() => parseWith(runningVersionBody, { version: "1" }, "body")).toThrow(unreadable);
    expect(() => parseWith(runningVersionBody, { name: "a\u0000b", version: "1" }, "body")).toThrow(unreadable);
  });
});
