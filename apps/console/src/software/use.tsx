import type { DistributionSetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { software as t } from "../text/en.ts";
import { count } from "../ui/format.ts";
import { Card, Facts } from "../ui/page.tsx";
import { Failure, Pending } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { missingOf } from "./kinds.state.ts";
import { useKinds } from "./kinds.ts";

/** What a set is, what it lacks, and who uses it; each number leads to the list that it counts. */
export function SetUse({ set }: { set: DistributionSetView }) {
  const { data, error, refetch } = useQuery(ask(r.distributionSets.statistics, { params: { distributionSetId: set.id } }));
  const later = error === null ? <Pending /> : "–";
  return (
    <Card title={t.use}>
      <Facts
        of={[
          [t.type, set.typeName ?? set.type],
          [t.missing, set.complete ? undefined : <Missing key="missing" set={set} />],
          [t.requiredStep, set.requiredMigrationStep ? t.yes : undefined],
          [t.columns.changed, <Time key="at" at={set.lastModifiedAt} />],
          [t.installed, <Devices key="installed" q={`installedds.id==${set.id}`} />],
          [t.assigned, <Devices key="assigned" q={`assignedds.id==${set.id}`} />],
          [t.rollouts, data ? <Counts to="/rollouts" of={data.rollouts} q={`distributionset.id==${set.id}`} field="status" /> : later],
          [t.actions, data ? <Counts to="/actions" of={data.actions} q={`distributionset.id==${set.id}`} field="detailstatus" /> : later],
        ]}
      />
      {data === undefined && error !== null && <Failure error={error} retry={() => void refetch()} />}
    </Card>
  );
}

/** How many devices a query finds. */
function Devices({ q }: { q: string }) {
  const lacking = useLacking(r.targets.list);
  const { data } = useQuery({ ...ask(r.targets.list, { query: { q, limit: 1 } }), enabled: lacking === undefined });
  if (data?.total === undefined) return "–";
  return (
    <Link to="/devices" search={{ q }}>
      {t.devices(data.total)}
    </Link>
  );
}

interface CountsProps {
  readonly to: "/rollouts" | "/actions";
  /** The names of states in capitals, with the numbers of what is in them, and `total`. */
  readonly of: Readonly<Record<string, number>> | undefined;
  readonly q: string;
  readonly field: string;
}

function Counts({ to, of, q, field }: CountsProps) {
  const counts = Object.entries(of ?? {}).filter(([name, number]) => name !== "total" && number > 0);
  if (counts.length === 0) return t.none;
  return counts.map(([name, number], index) => (
    <span key={name}>
      {index > 0 && ", "}
      <Link to={to} search={{ q: `${q};${field}==${name.toLowerCase()}` }}>
        {name.toLowerCase().replaceAll("_", " ")} {count(number)}
      </Link>
    </span>
  ));
}

/** The types of modules that the type of the set demands, and of which it has none. */
function Missing({ set }: { set: DistributionSetView }) {
  const { kinds } = useKinds(set.type);
  if (kinds === undefined) return "–";
  const missing = missingOf(kinds, set.modules);
  return missing.length === 0 ? t.missingFiles : missing.map(({ name }) => name).join(", ");
}
