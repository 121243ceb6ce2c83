import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import type { Asked } from "../api/client.ts";
import plot from "../rollout/rollout.module.css";
import { reports as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { copyText } from "../ui/copy.tsx";
import { Card } from "../ui/page.tsx";
import { Scroll } from "../ui/scroll.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { csvOf, type Month, type Series } from "./reports.state.ts";

const Chart = lazy(() => import("./chart.tsx").then(({ Chart: it }) => ({ default: it }))) as unknown as typeof import("./chart.tsx").Chart;

interface MonthlyProps<Row> {
  readonly title: string;
  readonly asked: Asked<{ readonly content: readonly Row[] }>;
  readonly series: readonly Series<Row>[];
  readonly format: (value: number) => string;
}

/** One report by month, as a chart or as the table that says the same. */
export function Monthly<Row extends Month>({ title, asked, series, format }: MonthlyProps<Row>) {
  const [asTable, setAsTable] = useState(false);
  const { data, error, refetch } = useQuery(asked);
  const rows = data?.content ?? [];
  const known = rows.some((row) => series.some(({ value }) => value(row) !== undefined));
  const aside = known && (
    <>
      <Button small look="ghost" onClick={() => copyText(csvOf(t.month, rows, series))}>
        {t.copy}
      </Button>
      <Button small look="ghost" onClick={() => setAsTable(!asTable)}>
        {asTable ? t.asChart : t.asTable}
      </Button>
    </>
  );
  return (
    <Card title={title} aside={aside} plain={known && asTable}>
      {!known && (
        <div className={plot["plot"]}>
          {data === undefined && (error === null ? <Skeleton lines={4} /> : <Failure error={error} retry={() => void refetch()} />)}
          {data !== undefined && <p className="muted">{t.empty}</p>}
        </div>
      )}
      {known && asTable && <Months rows={rows} series={series} format={format} />}
      {known && !asTable && (
        <Suspense fallback={<div className={plot["plot"]} />}>
          <Chart label={t.chart(title)} rows={rows} series={series} format={format} />
        </Suspense>
      )}
    </Card>
  );
}

function Months<Row extends Month>({ rows, series, format }: Pick<MonthlyProps<Row>, "series" | "format"> & { rows: readonly Row[] }) {
  return (
    <Scroll>
      <Table columns={[t.month, ...series.map(({ label }) => label)]}>
        {rows.map((row) => (
          <tr key={row.month}>
            <td>
              {row.month} <span className="muted">{t.coverage[row.coverage]}</span>
            </td>
            {series.map(({ label, value }) => (
              <td key={label} className="num">
                {shown(value(row), format)}
              </td>
            ))}
          </tr>
        ))}
      </Table>
    </Scroll>
  );
}

const shown = (value: number | undefined, format: (value: number) => string) => value !== undefined && format(value);
