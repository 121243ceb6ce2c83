import type { OAuth2ClientView, OAuth2ClientWithSecret } from "@harrier/contracts";
import { auditOf, optional, type View } from "@harrier/query";
import type { OAuthClientRow } from "./oauth-clients.sql.ts";
import type { WithSecret } from "./oauth-clients.ts";

/** Renders a client without a secret (spec 000 §5.2); it is the same in both dialects. */
export function oauthClientJson({ base }: View, row: OAuthClientRow): OAuth2ClientView {
  return {
    ...auditOf(row),
    clientId: row.clientId,
    name: row.name,
    ...optional("description", row.description),
    scopes: row.scopes,
    accessTokenTtl: row.accessTokenTtl,
    ...optional("lastUsedOn", row.lastUsedOn),
    ...optional("previousSecretExpiresAt", row.previousSecretExpiresAt),
    _links: { self: { href: `${base}/oauth2-clients/${row.clientId}` } },
  };
}

export function withSecretJson(view: View, row: WithSecret): OAuth2ClientWithSecret {
  return { ...oauthClientJson(view, row), clientSecret: row.clientSecret };
}
