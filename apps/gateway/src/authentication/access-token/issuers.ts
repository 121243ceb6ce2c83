import { z } from "zod";

/** The names of claims in a token; the first that exists counts. */
type ClaimNames = readonly string[];

/** A trusted issuer of access tokens, and how their claims are read (spec 000 §5.1). */
export interface Issuer {
  /** It must equal `iss` of the tokens exactly. */
  readonly issuer: string;
  /** A token must have one of these audiences. */
  readonly audiences: readonly string[];
  /** If it is absent, the issuer's discovery document has it. */
  readonly jwksUri?: string;
  /** One tenant for all tokens, or the claim that names it. */
  readonly tenant:
    | { readonly fixed: string }
    | { readonly claim: string /** In capitals; absent: any. */; readonly only?: readonly string[] };
  readonly scopeClaims: ClaimNames;
  /** The claim that names the user; without it the tokens belong to clients, which are no users (spec 000 §5.2). */
  readonly userClaims: ClaimNames;
  /** How people sign in with a browser; absent for an issuer of tokens alone. */
  readonly client?: Client;
}

/** The registration of the console at an issuer. */
export interface Client {
  readonly id: string;
  /** Absent: it is a public client, which PKCE protects. */
  readonly secret?: string;
  /** As the sign-in page calls the issuer. */
  readonly name: string;
  readonly scopes: readonly string[];
  /** The id of a public client with which the command line signs people in by device flow; absent: it cannot. */
  readonly deviceId?: string;
}

const text = z.string("no text").min(1, "empty").max(2_048, "too long");
const names = z.preprocess(
  (value) => (typeof value === "string" ? [value] : value),
  z.array(text, "no text and no list of texts").min(1, "empty").max(16, "more than 16"),
);
const name = z
  .string()
  .min(1)
  .max(128)
  .regex(/^\P{Cc}*$/u, "no control characters");

/** Keys decide who can sign in, so over a network they must be encrypted, unless the operator declares it safe. */
const isSafe = (url: string): boolean => {
  if (!URL.canParse(url)) return true; // another rule reports it
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || (protocol === "http:" && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname));
};
const url = text.refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), "no URL like https://id.example.com");

const entry = z
  .strictObject({
    issuer: url,
    audience: names,
    jwksUri: url.optional(),
    allowHttp: z.boolean().default(false),
    tenant: name.optional(),
    tenantClaim: text.optional(),
    tenants: z.array(name, "no list of tenants").min(1, "empty").max(10_000, "more than 10000").optional(),
    scopeClaim: names.default(["scope"]),
    userClaim: names.default(["preferred_username", "sub"]),
    clientId: text.optional(),
    clientSecret: text.optional(),
    deviceClientId: text.optional(),
    name: name.optional(),
    scopes: z.array(text, "no list of texts").max(64, "more than 64").default(["openid"]),
  })
  .superRefine((value, ctx) => {
    const unsafe = (["issuer", "jwksUri"] as const).find((member) => {
      const given = value[member];
      return given !== undefined && !value.allowHttp && !isSafe(given);
    });
    if (unsafe) ctx.addIssue({ code: "custom", path: [unsafe], message: 'not https: only with "allowHttp": true' });
    for (const member of ["clientSecret", "deviceClientId", "name"] as const) {
      if (value.clientId === undefined && value[member] !== undefined)
        ctx.addIssue({ code: "custom", path: [member], message: "given without clientId" });
    }
    if (!value.scopes.includes("openid")) ctx.addIssue({ code: "custom", path: ["scopes"], message: "without openid" });
    for (const member of ["tenantClaim", "tenants"] as const) {
      if (value.tenant !== undefined && value[member] !== undefined)
        ctx.addIssue({ code: "custom", path: [member], message: "given beside tenant: keep one" });
    }
  });

const list = z.array(entry).max(1_000);

/**
 * Reads `HARRIER_OIDC_ISSUERS`, a JSON list: `[{"issuer": "https://id.example.com/realms/fleet", "audience": "harrier", "tenant": "DEFAULT"}]`.
 * Throws an error of one line that names the wrong entry and what is wrong there.
 */
export function parseIssuers(json: string): Issuer[] {
  const given = readJson(json);
  const result = list.safeParse(given);
  if (!result.success) throw new Error(describe(worst(result.error.issues), given));
  const issuers = result.data.map(toIssuer);
  for (const [i, { issuer }] of issuers.entries()) {
    if (issuers.findIndex((other) => other.issuer === issuer) !== i) throw new Error(`issuer ${issuer} is given twice`);
  }
  return issuers;
}

function readJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error('no JSON list like [{"issuer": "https://id.example.com", "audience": "harrier", "tenant": "DEFAULT"}]');
  }
}

function toIssuer(value: z.output<typeof entry>): Issuer {
  return {
    issuer: value.issuer,
    audiences: value.audience,
    tenant: tenantOf(value),
    scopeClaims: value.scopeClaim,
    userClaims: value.userClaim,
    ...(value.jwksUri === undefined ? {} : { jwksUri: value.jwksUri }),
    ...(value.clientId === undefined ? {} : { client: toClient(value, value.clientId) }),
  };
}

function toClient({ issuer, name, clientSecret, deviceClientId, scopes }: z.output<typeof entry>, id: string): Client {
  // The command line keeps no secret, so that it can use the console's client only if that has none.
  const deviceId = deviceClientId ?? (clientSecret === undefined ? id : undefined);
  return {
    ...{ id, name: name ?? new URL(issuer).hostname, scopes },
    ...(clientSecret === undefined ? {} : { secret: clientSecret }),
    ...(deviceId === undefined ? {} : { deviceId }),
  };
}

function tenantOf({ tenant, tenantClaim: claim = "tenant", tenants }: z.output<typeof entry>): Issuer["tenant"] {
  if (tenant !== undefined) return { fixed: tenant };
  return tenants === undefined ? { claim } : { claim, only: tenants.map((one) => one.toUpperCase()) };
}

/** Prefers an unknown member to the one that is missing because of it. */
function worst(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  return issues.find(({ code }) => code === "unrecognized_keys") ?? (issues[0] as z.core.$ZodIssue);
}

function describe(issue: z.core.$ZodIssue, given: unknown): string {
  const [index, ...path] = issue.path;
  if (index === undefined) return "no list of issuers";
  const { issuer } = (Array.isArray(given) ? (given[index as number] as { issuer?: unknown } | null) : null) ?? {};
  const which = typeof issuer === "string" ? issuer : `number ${Number(index) + 1}`;
  const what = issue.code === "unrecognized_keys" ? `unknown member ${issue.keys.join(", ")}` : issue.message;
  return `issuer ${which}: ${path.length === 0 ? "" : `${path.join(".")}: `}${what}`;
}
