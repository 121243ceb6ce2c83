import type { Client } from "../../client/client.ts";
import { refusedClient } from "../../denied-requests/denied-client.ts";
import type { DeniedRequest } from "../../denied-requests/denied-requests.ts";
import type { SignInFailures } from "../../limits/sign-in-failures.ts";
import { claimedClient } from "./claimed-client.ts";

interface Deps {
  failures: Pick<SignInFailures, "begin">;
  /** Makes a salted digest, from which nothing can be read back. */
  digest(credential: string): string;
  /** Records the denial in the audit trail; never fails. */
  record(deniedRequest: DeniedRequest, rid: string): void;
}

export interface TokenRequest {
  client: Pick<Client, "address" | "hidden">;
  authorization: string | undefined;
  body: Buffer | undefined;
  rid: string;
}

/**
 * Must be called before a token request goes to management, which alone can verify the secret. It throws `tooManyRequests` after too many failures;
 * else the caller passes the status of the answer to the returned function.
 */
export type BeginClientSignIn = (request: TokenRequest) => (status: number) => void;

export function clientSignIns({ failures, digest, record }: Deps): BeginClientSignIn {
  return ({ client: { address, hidden }, authorization, body, rid }) => {
    const claimed = claimedClient(authorization, body);
    const credential = digest(JSON.stringify([claimed.clientId, claimed.secret]));
    const outcome = failures.begin({ kind: "client", address, hidden, account: claimed.clientId, credentials: [credential] });
    return (status) => {
      if (status === 200) outcome.succeeded(credential);
      else if (status !== 401) outcome.abandoned();
      else {
        outcome.failed();
        record(refusedClient(claimed, address), rid);
      }
    };
  };
}
