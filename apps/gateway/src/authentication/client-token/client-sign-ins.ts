import type { Client } from "../../client/client.ts";
import type { SignInFailures } from "../../limits/sign-in-failures.ts";
import type { Refusal } from "../../refusals/refusals.ts";
import { refusedClient } from "../../refusals/refused-client.ts";
import { claimedClient } from "./claimed-client.ts";

interface Deps {
  failures: Pick<SignInFailures, "begin">;
  /** Salted: nothing that could be read back. */
  digest(credential: string): string;
  /** Tells the audit trail; never fails. */
  note(refusal: Refusal, rid: string): void;
}

export interface TokenRequest {
  client: Pick<Client, "address" | "hidden">;
  authorization: string | undefined;
  body: Buffer | undefined;
  rid: string;
}

/**
 * Before a token request goes to management, which alone knows whether the secret is right. Throws `tooManyRequests` where there were too many
 * wrong ones; else what it returns is to be told the status of the answer.
 */
export type BeginClientSignIn = (request: TokenRequest) => (status: number) => void;

export function clientSignIns({ failures, digest, note }: Deps): BeginClientSignIn {
  return ({ client: { address, hidden }, authorization, body, rid }) => {
    const claimed = claimedClient(authorization, body);
    const credential = digest(JSON.stringify([claimed.clientId, claimed.secret]));
    const outcome = failures.begin({ kind: "client", address, hidden, account: claimed.clientId, credentials: [credential] });
    return (status) => {
      if (status === 200) outcome.succeeded(credential);
      else if (status !== 401) outcome.abandoned();
      else {
        outcome.failed();
        note(refusedClient(claimed, address), rid);
      }
    };
  };
}
