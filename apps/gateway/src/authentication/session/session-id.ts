import { createHash, randomBytes } from "node:crypto";

/** How a session comes: by cookie from a browser, or as a bearer token from the command line. An id of one kind is none of the other. */
export type SessionKind = "browser" | "cli";

export const sessionPrefix = "hrs_";
const form = /^hrs_[A-Za-z0-9_-]{43}$/;

/** Makes the id of a session: 256 random bits. Only its holder knows it; the server keeps its digest. */
export const newSessionId = (): string => sessionPrefix + randomBytes(32).toString("base64url");

/** Says whether a text can be the id of a session, before anything is looked up for it. */
export const isSessionId = (text: string): boolean => form.test(text);

/** Returns SHA-256 in hexadecimal. The id cannot be guessed, so its digest needs neither salt nor cost. */
export const idDigestOf = (id: string): string => createHash("sha256").update(id).digest("hex");
