import { z } from "zod";
import type { Route } from "./route.ts";

/** These members of answers are credentials. */
const secretMember = /"(?:securityToken|apiKey|clientSecret|password)":/;

/**
 * Whether a success of this route may contain a credential, so that no cache may keep it (RFC 9111 §5.2.2.5). It follows from the names of the
 * members of the answer at any depth, so that a new route cannot forget it. Devices are never sent such members.
 */
export function isConfidential(row: Pick<Route, "interface" | "confidential" | "response" | "responseRest">): boolean {
  if (row.interface === "device") return false;
  if (row.confidential === true) return true;
  return [row.response, row.responseRest].some((schema) => {
    if (schema === undefined || schema === null) return false;
    return secretMember.test(JSON.stringify(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" })));
  });
}
