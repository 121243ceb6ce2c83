import { randomUUID } from "node:crypto";
import type { Client } from "@harrier/rpc";
import type { Log } from "@harrier/service";
import { nobody } from "../authenticate-device.ts";
import { OwnTokens } from "./own-tokens.ts";

interface Parts {
  identity: Pick<Client<"harrier.management.v1.IdentityService">, "readTokenKeys">;
  ttlSeconds: number;
  log: Pick<Log, "warn">;
}

const withinMs = 3_000;

/** Makes the verifier of our own token endpoint's tokens; its keys come from management itself, not through the endpoint for clients. */
export function ownTokens({ identity, ttlSeconds, log }: Parts): OwnTokens {
  return new OwnTokens({
    async read() {
      const call = { principal: nobody, rid: randomUUID(), deadline: Date.now() + withinMs };
      const { issuer, audience, jwks } = await identity.readTokenKeys({}, call);
      return { issuer, audience, jwks: JSON.parse(jwks) };
    },
    onFailed: (err) => log.warn({ err }, "management cannot be asked for the keys of the token endpoint"),
    ttlSeconds,
    now: Date.now,
  });
}
