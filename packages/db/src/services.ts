/** These services own a schema. Schema name = service name, role name = harrier_ + schema name. */
export const databaseServices = ["controller", "management", "artifact-store", "rollout-engine"] as const;
export type DatabaseService = (typeof databaseServices)[number];
export type RolePasswords = Readonly<Record<DatabaseService, string>>;

/** These services serve changing calls and keep an audit trail of them. */
export const auditedServices = ["management", "rollout-engine", "artifact-store"] as const satisfies readonly DatabaseService[];
export type AuditedService = (typeof auditedServices)[number];

export const schemaOf = (service: DatabaseService): string => service.replaceAll("-", "_");
export const roleOf = (service: DatabaseService): string => `harrier_${schemaOf(service)}`;

/** Answers the schema of a service's audit trail, beside its own. */
export const auditSchemaOf = (service: AuditedService): string => `${schemaOf(service)}_audit`;

/** Answers the same as a list, which is empty for a service without a trail. */
export const auditSchemasOf = (service: DatabaseService): string[] =>
  auditedServices.filter((audited) => audited === service).map(auditSchemaOf);
