import { type OidcUser, startOidcProvider } from "./real/oidc-provider.ts";

// `npm run oidc -- [--port 9400] [name=role,role …]` runs an OpenID provider to try Harrier with, until Ctrl-C.

const words = process.argv.slice(2);
const portAt = words.indexOf("--port");
const port = portAt < 0 ? 9400 : Number(words.splice(portAt, 2)[1]);
const users = (words.length === 0 ? ["ann=fleet-reader", "boss=SYSTEM_ADMIN"] : words).map((word): OidcUser => {
  const [name = "", roles = ""] = word.split("=");
  return { name, roles: roles.split(",").filter((role) => role !== "") };
});

if (!Number.isInteger(port) || users.some(({ name }) => name === "" || name.startsWith("-"))) {
  console.error("npm run oidc -- [--port 9400] [name=role,role …]");
  process.exit(1);
}

try {
  const { issuer } = await startOidcProvider({ port, users });
  const setting = [{ issuer, audience: "harrier", tenant: "DEFAULT" }];
  console.log(`OpenID provider for trying things out: ${issuer}`);
  for (const { name, roles } of users) console.log(`  ${name}, password ${name}, roles ${roles.join(" ") || "(none)"}`);
  console.log(`HARRIER_OIDC_ISSUERS='${JSON.stringify(setting)}' npm start`);
} catch (error) {
  console.error(`port ${port}: ${(error as Error).message}`);
  process.exit(1);
}
