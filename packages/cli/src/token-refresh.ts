import type { TokenSource } from "@harrier/client";
import { type ContextAuth, readConfig, writeConfig } from "./config-file.ts";
import { withConfigLocked } from "./config-lock.ts";
import { refresh } from "./device-flow.ts";
import { ExitError, exit } from "./exit.ts";

type Held = Pick<ContextAuth, "expiresAt"> & { readonly token: string };

const isGood = ({ expiresAt }: Held): boolean => expiresAt === undefined || expiresAt > Date.now();
const overAt = (): ExitError => new ExitError(exit.signIn, "the sign-in has ended: harrier login");

/**
 * The token of a person who signed in at an issuer, for as long as the program runs: it is replaced before its end, and where the server refuses it. Requests
 * at the same time share one replacement, and so do commands at the same time: one of them gets it, and the others read it from the configuration.
 */
export function renewing(context: string, first: Held, signal: AbortSignal): TokenSource {
  let held = first;
  let pending: Promise<Held> | undefined;
  return async (renew = false) => {
    if (renew || !isGood(held)) {
      pending ??= withConfigLocked(() => next(context, held, signal), signal).finally(() => {
        pending = undefined;
      });
      held = await pending;
    }
    return `Bearer ${held.token}`;
  };
}

async function next(name: string, held: Held, signal: AbortSignal): Promise<Held> {
  const read = async () => (await readConfig()).contexts[name];
  const auth = (await read())?.auth;
  const others = keptBy(auth, held);
  if (others !== undefined) return others;
  if (auth?.refresh === undefined) throw overAt();
  const { token: refreshToken, issuer, clientId } = auth.refresh;
  const grant = await refresh({ issuer, clientId, scopes: [] }, refreshToken, signal);
  const config = await readConfig();
  const now = config.contexts[name];
  if (grant === undefined) {
    // An issuer that changes refresh tokens takes each of them once: another command may have been first.
    const theirs = keptBy(now?.auth, held);
    if (theirs === undefined) throw overAt();
    return theirs;
  }
  const { token, expiresAt, refreshToken: nextRefresh = refreshToken } = grant;
  const got: Held = { token, ...(expiresAt === undefined ? {} : { expiresAt }) };
  if (now !== undefined) {
    const kept = { ...got, refresh: { token: nextRefresh, issuer, clientId } };
    await writeConfig({ ...config, contexts: { ...config.contexts, [name]: { ...now, auth: kept } } });
  }
  return got;
}

/** Another token than the one that is held, if another command has got one that is still good. */
function keptBy(auth: ContextAuth | undefined, held: Held): Held | undefined {
  if (auth?.token === undefined || auth.token === held.token) return undefined;
  const theirs: Held = { token: auth.token, ...(auth.expiresAt === undefined ? {} : { expiresAt: auth.expiresAt }) };
  return isGood(theirs) ? theirs : undefined;
}
