import { statement } from "@harrier/db";

export interface MessagingRow {
  vhost: string;
  dmf: boolean;
  sie: boolean;
  /** Since when events cannot be published; null while they can. */
  sieFailingSince: Date | null;
}

const columns = `m.vhost, m.dmf, m.sie, m.sie_failing_since as "sieFailingSince"`;

/** Reads where the messages of a tenant go; there is no row before it has enabled anything. */
export const readMessaging = statement<[tenantId: number], MessagingRow>(
  "management.read_messaging",
  `select ${columns} from messaging m where m.tenant_id = $1`,
);

/**
 * Takes the row for an enabling, with a new virtual host if there is none. It answers nothing while another enabling has it, or if the use is enabled
 * already and shall not be again.
 */
export const takeMessaging = statement<
  [tenantId: number, vhost: string, use: "dmf" | "sie", override: boolean, seconds: number],
  MessagingRow
>(
  "management.take_messaging",
  `insert into messaging as m (tenant_id, vhost, taken_until) values ($1, $2, now() + make_interval(secs => $5))
   on conflict (tenant_id) do update set taken_until = excluded.taken_until
    where m.taken_until <= now() and ($4 or not case $3 when 'dmf' then m.dmf else m.sie end)
   returning ${columns}`,
);

/** Gives the row back, and says that the use is enabled if it now is; the stream of events begins at `position`. */
export const releaseMessaging = statement<[tenantId: number, dmf: boolean, sie: boolean, position: string | null], MessagingRow>(
  "management.release_messaging",
  `update messaging m set dmf = m.dmf or $2, sie = m.sie or $3, sie_position = coalesce(m.sie_position, $4), taken_until = now() where m.tenant_id = $1 returning ${columns}`,
);
