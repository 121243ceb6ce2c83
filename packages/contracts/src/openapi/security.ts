import type { Route } from "../route.ts";

const accessToken = {
  type: "http",
  scheme: "bearer",
  bearerFormat: "JWT",
} as const;

/** The ways in which a caller of an interface authenticates. */
export const securitySchemes = {
  management: {
    basic: { type: "http", scheme: "basic", description: "`user` or `tenant\\user`, and the password" },
    accessToken: {
      ...accessToken,
      description: "An access token of a trusted issuer, or of an OAuth 2.0 client; its scopes name roles or permissions",
    },
    client: { type: "http", scheme: "basic", description: "Id and secret of an OAuth 2.0 client, at the token endpoint" },
  },
  device: {
    targetToken: { type: "apiKey", in: "header", name: "Authorization", description: "`TargetToken <securityToken of the target>`" },
    gatewayToken: { type: "apiKey", in: "header", name: "Authorization", description: "`GatewayToken <authentication.gatewaytoken.key>`" },
    apiKey: { type: "apiKey", in: "header", name: "Authorization", description: "`ApiKey <device API key>`, or the key alone" },
    accessToken: {
      ...accessToken,
      description: "An access token of an OAuth 2.0 client with the scope `device-full-access`, from `POST /oauth2/token`",
    },
    certificate: { type: "mutualTLS", description: "The device's client certificate, where the tenant has set its issuer" },
  },
} as const;

export function securityOf(row: Pick<Route, "interface" | "credential">): Record<string, string[]>[] {
  if (row.interface === "management") return [{ basic: [] }, { accessToken: [] }];
  const credentials = Object.keys(securitySchemes.device).map((name) => ({ [name]: [] }));
  // a download needs no credential if the tenant allows it
  return row.credential === "download" ? [...credentials, {}] : credentials;
}
