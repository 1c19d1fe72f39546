"""sigma of new rows from memory to memory, one thread: accrue beside onnxruntime with the same weights, in double and in float.

    predict_onnx.py MODEL.json ROWS

The graph is the whole model: standardise, every network, bound, average, exp. onnxruntime gets its rows in batches of the
size that suits it best; ours gets them at once. Rounds take turns, and the best of each counts.
"""

import json
import sys
import time

import accrue
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROUNDS = 7
BATCHES = (256, 1024, 4096, 16384)


def session(model, precision):
    """The model file's content (docs/model-file.md) as a graph."""
    inputs, members = model["inputs"], model["sigma"]["members"]
    d = len(inputs)
    nodes, weights = [], []

    def constant(name, values):
        weights.append(numpy_helper.from_array(np.asarray(values, precision), name))
        return name

    def node(kind, sources, target, **attributes):
        nodes.append(helper.make_node(kind, sources, [target], **attributes))
        return target

    centred = node("Sub", ["x", constant("centre", [i["centre"] for i in inputs])], "centred")
    x = node("Div", [centred, constant("scale", [i["scale"] for i in inputs])], "standardised")
    one, minus_one = constant("one", 1), constant("minus_one", -1)
    lowest, highest = constant("lowest", -14), constant("highest", 8)
    outputs = []
    for m, member in enumerate(members):
        w1, b1, w2, b2, w3, b3 = np.split(np.array(member["parameters"]), np.cumsum([50 * d, 50, 500, 10, 10]))
        layer = lambda k, source, w, b: node(
            "Gemm", [source, constant(f"w{k}_{m}", w), constant(f"b{k}_{m}", b)], f"h{k}_{m}"
        )
        h = node("Relu", [layer(1, x, w1.reshape(50, d).T, b1)], f"relu_{m}")
        h = node("Clip", [layer(2, h, w2.reshape(10, 50).T, b2), minus_one, one], f"clip_{m}")
        outputs.append(node("Clip", [layer(3, h, w3.reshape(10, 1), b3), lowest, highest], f"bounded_{m}"))
    total = node("Sum", outputs, "total") if len(outputs) > 1 else outputs[0]
    mean = node("Div", [total, constant("members", len(members))], "mean")
    node("Mul", [node("Exp", [mean], "exp"), constant("error_scale", model["error_scale"])], "sigma")
    kind = TensorProto.DOUBLE if precision is np.float64 else TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "sigma",
        [helper.make_tensor_value_info("x", kind, ["rows", d])],
        [helper.make_tensor_value_info("sigma", kind, ["rows", 1])],
        weights,
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(proto)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])


def main():
    path, rows = sys.argv[1], int(sys.argv[2])
    ours = accrue.Model.load(path)
    with open(path) as file:
        content = json.load(file)
    x = np.random.default_rng(1).uniform(size=(rows, len(content["inputs"])))
    contenders = {"accrue": lambda: ours.predict(x).sigma}
    for name, precision in (("double", np.float64), ("float", np.float32)):
        run, own = session(content, precision), x.astype(precision)
        for batch in sorted({min(batch, rows) for batch in BATCHES}):

            def sigma(run=run, own=own, batch=batch):
                return np.concatenate([run.run(None, {"x": own[i : i + batch]})[0] for i in range(0, rows, batch)])[
                    :, 0
                ]

            contenders[name, batch] = sigma
    best = dict.fromkeys(contenders, np.inf)
    results = {}
    with accrue.threads(1):
        for _ in range(ROUNDS):
            for name, predict in contenders.items():
                begin = time.perf_counter()
                results[name] = predict()
                best[name] = min(best[name], time.perf_counter() - begin)
    for name, result in results.items():
        # In float the last of seven digits, and a little more behind three layers.
        np.testing.assert_allclose(result, results["accrue"], rtol=1e-4 if "float" in name else 1e-10)
    fastest = lambda kind: min((seconds, key[1]) for key, seconds in best.items() if key[0] == kind)
    print(
        json.dumps(
            {
                "networks": len(content["sigma"]["members"]),
                "accrue": best["accrue"],
                **{kind: dict(zip(("seconds", "batch"), fastest(kind))) for kind in ("double", "float")},
            }
        )
    )


main()
