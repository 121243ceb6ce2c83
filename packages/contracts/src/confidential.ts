import { z } from "zod";
import type { Route } from "./route.ts";

/** Members of answers that let somebody in. */
const secretMember = /"(?:securityToken|apiKey|clientSecret|password)":/;

/**
 * Whether a success of this route may tell something that lets somebody in, so that no cache on the way may keep it (RFC 9111 §5.2.2.5). By the names of
 * the members of its answer, wherever they stand, so that a new route cannot forget it; devices are told no such thing.
 */
export function isConfidential(row: Pick<Route, "interface" | "confidential" | "response" | "responseRest">): boolean {
  if (row.interface === "device") return false;
  if (row.confidential === true) return true;
  return [row.response, row.responseRest].some((schema) => {
    if (schema === undefined || schema === null) return false;
    return secretMember.test(JSON.stringify(z.toJSONSchema(schema, { io: "output", unrepresentable: "any" })));
  });
}
