import { type OAuth2ClientWithSecret, oauthPaths } from "@harrier/contracts";
import { basic } from "@harrier/testkit";
import { Client } from "undici";
import { expect } from "vitest";
import { baseUrl, type Headers } from "./http.ts";

type Secret = Pick<OAuth2ClientWithSecret, "clientId" | "clientSecret">;

export interface OpenAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
  json: Record<string, unknown>;
}

/** Opens a page without sign-in. Its errors are those of OAuth (RFC 6749 §5.2) and not of our interfaces, so the rules for these are not applied. */
export async function openPage(path: string, ask: { method?: string; headers?: Headers; body?: string } = {}): Promise<OpenAnswer> {
  const client = new Client(baseUrl);
  const { statusCode, headers, body } = await client.request({
    path,
    method: ask.method ?? "GET",
    headers: ask.headers ?? {},
    body: ask.body ?? null,
  });
  const text = await body.text();
  await client.close();
  expect(statusCode, text).toBeLessThan(500);
  return { status: statusCode, headers, text, json: text.startsWith("{") ? JSON.parse(text) : {} };
}

/** Sends a request to the token endpoint for a client. */
export function tokenAnswer({ clientId, clientSecret }: Secret, form: Record<string, string> = {}, by: "basic" | "post" = "basic") {
  const body = new URLSearchParams({ grant_type: "client_credentials", ...form });
  const headers: Headers = { "content-type": "application/x-www-form-urlencoded" };
  if (by === "basic") headers["authorization"] = basic(clientId, clientSecret);
  else for (const [name, value] of Object.entries({ client_id: clientId, client_secret: clientSecret })) body.set(name, value);
  return openPage(oauthPaths.token, { method: "POST", headers, body: body.toString() });
}

/** Gets a token for the client and returns an Authorization header with it. */
export async function tokenOf(client: Secret, form: Record<string, string> = {}): Promise<string> {
  const { status, json, text } = await tokenAnswer(client, form);
  expect(status, text).toBe(200);
  return `Bearer ${json["access_token"]}`;
}

/** Reads the claims of a token. */
export function claimsOf(token: unknown): Record<string, unknown> {
  return JSON.parse(Buffer.from(String(token).split(".")[1] ?? "", "base64url").toString());
}
