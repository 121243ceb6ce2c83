import type { Surface } from "@harrier/errors";
import { createDocument } from "zod-openapi";
import { basePaths, type Route } from "../route.ts";
import { routes } from "../routes.ts";
import { finished } from "./finish.ts";
import type { OpenApi } from "./json.ts";
import { pathsOf, tagOf } from "./operations.ts";
import { securitySchemes } from "./security.ts";
import { tagTexts } from "./tags.ts";
import { oauthDocumentation } from "./token-endpoint.ts";

/** The documents, by the name that follows `openapi-` in their files. */
export const openApiDocuments = { mgmt: "spec", rest: "rest", device: "device" } as const satisfies Record<string, Surface>;
export type OpenApiName = keyof typeof openApiDocuments;

const titles = {
  spec: {
    title: "Harrier management",
    description: `What administrators and their programs do: software, targets, actions, rollouts, users and settings of a tenant, under \`${basePaths.spec}\`. Bodies in JSON may be called \`application/hal+json\` as well.`,
  },
  rest: {
    title: "Harrier management in hawkBit's dialect",
    description: `The management operations as tools written for hawkBit 1.x expect them, under \`${basePaths.rest}\`: other statuses here and there, and the detailed status of an action in \`status\`. Bodies in JSON may be called \`application/hal+json\` as well.`,
  },
  device: {
    title: "Harrier device interface",
    description: "What devices do: poll, read a deployment, download, report. hawkBit's direct device integration API.",
  },
} as const satisfies Record<Surface, object>;

/**
 * Makes the OpenAPI 3.1 document of one interface in one dialect from the route table: full paths, one server, and only the statuses of this
 * dialect. The document of `spec` has the token endpoint as well. Throws if two schemas have the same name.
 */
export function openApiDocument(name: OpenApiName): OpenApi {
  const surface: Surface = openApiDocuments[name];
  const table = routes.filter((row: Route) => (row.interface === "device") === (surface === "device"));
  const withTokens = surface === "spec";
  const { client, ...management } = securitySchemes.management;
  const schemes = surface === "device" ? securitySchemes.device : withTokens ? { ...management, client } : management;
  const tags = [...new Set([...table.map(tagOf), ...(withTokens ? ["oauth2"] : [])])];
  const document = createDocument(
    {
      openapi: "3.1.0",
      info: { version: "1", ...titles[surface] },
      servers: [{ url: "/", description: "The gateway that serves this document" }],
      tags: tags.map((tag) => ({ name: tag, description: tagTexts[tag] ?? tag })),
      paths: { ...pathsOf(table, surface), ...(withTokens ? oauthDocumentation : {}) },
      components: { securitySchemes: schemes },
    },
    // answers may get more members in a minor version, so additional ones are not excluded
    { override: ({ jsonSchema }) => void (jsonSchema.additionalProperties === false && delete jsonSchema.additionalProperties) },
  );
  return finished(JSON.parse(JSON.stringify(document)) as OpenApi, surface);
}
