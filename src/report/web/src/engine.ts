// The parts of ECharts that are used, and nothing else of it.
import { CustomChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, LegendComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";

use([CustomChart, LineChart, ScatterChart, GridComponent, LegendComponent, SVGRenderer]);

export { init };
export type { ECharts } from "echarts/core";
