import { type OAuth2ClientView, type OAuth2ClientWithSecret, routeTable as r } from "@harrier/contracts";
import { unique } from "./build.ts";
import { type CallOptions, call, type Dialect } from "./call.ts";
import type { ValidRequest } from "./walk.ts";

/** Builds OAuth 2.0 clients of the tenant, in one dialect. */
export function oauth2ClientBuilder(dialect: Dialect) {
  const one = (clientId: string) => ({ params: { clientId } });
  const body = (more: object = {}) => ({
    name: unique("client"),
    description: "d",
    // Nobody can grant a permission that they lack; everybody who may make clients has this one.
    scopes: ["USER_MANAGEMENT"],
    accessTokenTtl: 600,
    ...more,
  });
  const create = async (more: object = {}): Promise<OAuth2ClientWithSecret> =>
    (await call<OAuth2ClientWithSecret[]>(r.oauth2Clients.create, dialect, { body: [body(more)] })).json[0] as OAuth2ClientWithSecret;
  const get = async (clientId: string): Promise<OAuth2ClientView> =>
    (await call<OAuth2ClientView>(r.oauth2Clients.get, dialect, one(clientId))).json;
  const rotate = async (clientId: string, options: CallOptions = {}): Promise<OAuth2ClientWithSecret> =>
    (await call<OAuth2ClientWithSecret>(r.oauth2Clients.rotateSecret, dialect, { ...one(clientId), ...options })).json;
  const update = (clientId: string, change: object) =>
    call<OAuth2ClientView>(r.oauth2Clients.update, dialect, { ...one(clientId), body: change });
  const remove = (clientId: string) => call(r.oauth2Clients.delete, dialect, one(clientId));
  return { one, body, create, get, rotate, update, remove };
}

/** Makes a valid request for every route of OAuth 2.0 clients. */
export function oauth2ClientRequests(dialect: Dialect): Record<string, ValidRequest> {
  const { one, body, create } = oauth2ClientBuilder(dialect);
  const fresh = async () => one((await create()).clientId);
  return {
    "oauth2Clients.list": async () => {
      await create();
      return { query: { q: "name==*;clientid==oc_*", sort: "name:DESC", limit: 5 } };
    },
    "oauth2Clients.create": () => ({ body: [body()] }),
    "oauth2Clients.get": fresh,
    "oauth2Clients.update": async () => ({ ...(await fresh()), body: body({ accessTokenTtl: 60 }) }),
    "oauth2Clients.delete": fresh,
    "oauth2Clients.rotateSecret": async () => ({ ...(await fresh()), body: { previousSecretTtl: 60 } }),
  };
}
