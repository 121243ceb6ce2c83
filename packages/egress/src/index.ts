export { type Allowed, isPublic, parseAllowed } from "./allowed.ts";
export { checkUrl, createEgress, type Egress, type EgressAnswer, EgressError, type EgressFailure, type EgressRequest } from "./egress.ts";
