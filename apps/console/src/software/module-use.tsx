import type { SoftwareModuleView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ask, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { states, software as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Card, Facts } from "../ui/page.tsx";
import { Failure, Pending } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { NewSet } from "./new-software.tsx";
import style from "./software.module.css";

/** So many sets are named; a link leads to all of them. */
const named = 5;

/** What a module is, and which sets hold it; devices get it by those alone. */
export function ModuleUse({ module }: { module: SoftwareModuleView }) {
  const [adding, setAdding] = useState(false);
  const lacking = useLacking(r.distributionSets.create);
  return (
    <Card
      title={t.use}
      aside={
        <Button small why={lacking && states.missing(lacking)} onClick={() => setAdding(true)}>
          {t.newSetOf}
        </Button>
      }
    >
      <Facts
        of={[
          [t.type, module.typeName ?? module.type],
          [t.vendor, module.vendor],
          [t.encrypted, module.encrypted ? t.yes : undefined],
          [t.columns.changed, <Time key="at" at={module.lastModifiedAt} />],
          [t.inSets, <Sets key="sets" moduleId={module.id} />],
        ]}
      />
      {adding && <NewSet of={module} close={() => setAdding(false)} />}
    </Card>
  );
}

function Sets({ moduleId }: { moduleId: number }) {
  const q = `module.id==${moduleId}`;
  const { data, error, refetch } = useQuery(ask(r.distributionSets.list, { query: { q, sort: "id:DESC", limit: named } }));
  if (data === undefined) return error === null ? <Pending /> : <Failure error={error} retry={() => void refetch()} />;
  const more = (data.total ?? 0) - data.content.length;
  if (data.content.length === 0) return <span className="muted">{t.inNoSet}</span>;
  return (
    <ul className={style["inSets"]}>
      {data.content.map(({ id, name, version }) => (
        <li key={id}>
          <Link to="/software/sets/$setId" params={{ setId: String(id) }}>
            {`${name} ${version}`}
          </Link>
        </li>
      ))}
      {more > 0 && (
        <li>
          <Link to="/software" search={{ q }}>
            {t.moreSets(more)}
          </Link>
        </li>
      )}
    </ul>
  );
}
